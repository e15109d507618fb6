//! With guesses, the same seed gives the same text now.
//!
//! Why: each sampled token takes a random number from the request's generator. All rows were
//! sampled, even those behind a rejected guess, and their tokens were thrown away. But the random
//! numbers were gone: the next pass drew with numbers that plain decoding uses for later tokens.
//! The distribution is right nevertheless, because one random number is as good as another, so no
//! statistics show it. Sample a row only if its token is written, and you draw as many numbers as
//! you write tokens.
//!
//! What it costs: the rows are sampled one after the other, because each may be the last. That
//! saves the sampling of the rejected rows.
//!
//! A common wrong turn: a generator for each position, seeded from the seed and the position. All
//! drafts give one text then, but not plain decoding's, unless plain decoding draws like that too.

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

/// Generates the text of a request by speculative decoding. Returns its new tokens, which are those
/// of plain decoding.
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

/// The tokens that a text gains: the guesses that are as sampled, and the token that was sampled
/// behind them. No row is sampled whose token is not written.
fn check(
    sampler: &mut Sampler,
    prompt: &[u32],
    output: &[u32],
    guesses: &[u32],
    rows: &[Vec<f32>],
) -> Vec<u32> {
    let mut written = output.to_vec();
    for (row, logits) in rows.iter().enumerate() {
        let token = sampler.sample(logits, prompt, &written).expect("logits are finite");
        written.push(token);
        if guesses.get(row) != Some(&token) {
            break;
        }
    }
    written.split_off(output.len())
}
