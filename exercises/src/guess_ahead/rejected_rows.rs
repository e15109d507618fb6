//! A bug hunt: with guesses, the same seed gives a different text.

use slowburn::sampling::{Sampler, SamplingParams};

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    pub prompt: Vec<u32>,
    pub max_tokens: usize,
    /// The temperature, the penalties, the seed, and the other parameters of the sampler.
    pub params: SamplingParams,
}

/// Guesses the tokens that follow a text: any number of them, right or wrong.
pub type Draft<'a> = dyn Fn(&[u32]) -> Vec<u32> + 'a;

/// One pass of the model over a text and guesses. It gives one more row of logits than there are
/// guesses, `[rows, vocab]`: the first row follows the text, the second follows the text and one
/// guess, and so on. All are finite.
pub type Forward<'a> = dyn Fn(&[u32], &[u32]) -> Vec<Vec<f32>> + 'a;

/// Generates the text of a request by speculative decoding. Returns its new tokens.
///
/// **What was observed.** Greedy texts are the same with guesses and without. With a temperature
/// they are the same only if all guesses are right, or if there are none. Otherwise the same seed
/// gives a text that begins as it should, and at some token goes on differently. Where that happens
/// depends on the draft. The rows of logits were compared with the rows of plain decoding, and are
/// the same. Over many seeds, every token comes as often as it should.
///
/// Find the reason, and fix it. What should be:
///
/// - The text equals plain decoding's, where one sampler, made from `params`, samples each token
///   from the logits after the text: for every draft, every seed, and all parameters.
/// - A pass gives as many tokens as before: the accepted guesses, and one more.
pub fn speculate(request: &Request, draft: &Draft<'_>, forward: &Forward<'_>) -> Vec<u32> {
    let mut sampler = Sampler::new(&request.params).expect("the parameters are valid");
    let mut output = Vec::new();
    while output.len() < request.max_tokens {
        let text = [request.prompt.as_slice(), &output].concat();
        let mut guesses = draft(&text);
        // A pass gives one token more than it has accepted guesses.
        guesses.truncate(request.max_tokens - output.len() - 1);
        let rows = forward(&text, &guesses);
        let gained = check(&mut sampler, &request.prompt, &output, &guesses, &rows);
        output.extend(gained);
    }
    output
}

/// The tokens that a text gains: the guesses that equal the sampled tokens, and the token that was
/// sampled behind them.
fn check(
    sampler: &mut Sampler,
    prompt: &[u32],
    output: &[u32],
    guesses: &[u32],
    rows: &[Vec<f32>],
) -> Vec<u32> {
    // A row is sampled as if all guesses before it were right: the penalties count them.
    let mut assumed = output.to_vec();
    let mut sampled = Vec::new();
    for (row, logits) in rows.iter().enumerate() {
        let token = sampler.sample(logits, prompt, &assumed).expect("logits are finite");
        sampled.push(token);
        assumed.extend(guesses.get(row));
    }
    // Rows behind the first guess that is not as sampled do not count.
    let pairs = sampled.iter().zip(guesses);
    let accepted = pairs.take_while(|(token, guess)| token == guess).count();
    sampled.truncate(accepted + 1);
    sampled
}
