//! Top-k, with ties and with tokens that always stay.

/// The tail of the vocabulary is long, and now and then one of its tokens is drawn. Top-k cuts the
/// tail off: keep the `k` tokens with the highest scores, and the tokens in `always`. Every other
/// score becomes -inf.
///
/// `scores` is `[vocab]`, and you change it in place. A score that stays is not changed, and stays
/// where it is.
///
/// - A token in `always` stays, whatever its score is. (Without a chance for its end token, a text
///   might not end.) It takes no place from the others: you choose the `k` best among the rest. The
///   ids in `always` are within the vocabulary, in any order, and one may be there twice.
/// - Of the rest, all tokens whose score is at least the `k`-th best stay. So all ties with the
///   `k`-th stay, and there may be more than `k`.
/// - A `k` greater than the number of the rest keeps all. `k` is at least 1.
/// - Some scores may be -inf already: an earlier rule removed these tokens, and they do not come
///   back. No score is NaN.
///
/// ```text
/// k = 2, always = []    [1.0, 4.0, 3.0, 2.0]    becomes [-inf, 4.0, 3.0, -inf]
/// k = 2, always = []    [3.0, 4.0, 3.0, 2.0]    becomes [3.0, 4.0, 3.0, -inf]
/// k = 1, always = [0]   [1.0, 4.0, 3.0, 2.0]    becomes [1.0, 4.0, -inf, -inf]
/// k = 1, always = [1]   [1.0, 4.0, 3.0, 2.0]    becomes [-inf, 4.0, 3.0, -inf]
/// k = 9, always = []    [1.0, 4.0]              stays   [1.0, 4.0]
/// ```
pub fn keep_top_k(scores: &mut [f32], k: usize, always: &[u32]) {
    todo!()
}
