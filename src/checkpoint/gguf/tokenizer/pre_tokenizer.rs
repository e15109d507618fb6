//! How a text is split into words before byte-level BPE.

use serde_json::{Value, json};

use super::super::metadata::Metadata;
use crate::error::{LoadError, Result};

const PRE: &str = "tokenizer.ggml.pre";

/// The words of GPT-2: a few English endings, then letters, digits or other characters, each with
/// the space before it.
const GPT2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

/// The words of Llama 3: up to three digits, and any one character before letters.
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The words of Qwen 2: as Llama 3, but each digit alone.
const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// As Qwen 2, with combining marks among the letters.
const QWEN35: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// As Qwen 2, without the English endings: `'de` stays in one word in Turkish.
const NO_ENDINGS: &str =
    r"[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// As Qwen 2, but each line break alone, and no line breaks behind other characters.
const BAILING: &str = r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+";
const SEED: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+";

/// As Qwen 2, with several words of letters as one.
const EXAONE_MOE: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+";

/// As Llama 3, with spaces in groups of powers of two.
const JAIS2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s{512}(?!\S)|\s{256}(?!\S)|\s{128}(?!\S)|\s{64}(?!\S)|\s{32}(?!\S)|\s{16}(?!\S)|\s{8}(?!\S)|\s{4}(?!\S)|\s{1,2}(?!\S)|\s{1}";

/// As Llama 3, with any number of digits: they were split before.
const MINICPM5: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Words end where a capital follows a small letter: those of Mistral's Tekken, each digit alone.
const TEKKEN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// As Tekken, with the English endings and up to three digits.
const GPT4O: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// The words of DeepSeek V3, behind digits and Chinese and Japanese characters.
const DEEPSEEK3: &str = r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"##;

/// As GPT-4o, with a slash among the line breaks behind other characters, and each digit alone.
const YOUTU: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// As GPT-4o, with Chinese characters as words of their own.
const KIMI_K2: &str = r"[\p{Han}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]+[\p{Ll}\p{Lm}\p{Lo}\p{M}&&[^\p{Han}]]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// As DeepSeek V3, without line breaks behind other characters.
const SPARK: &str = r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+|[\r\n]|\s+(?!\S)|\s+"##;

/// The letters of the first DeepSeek, as its tokenizer lists them. Those in digits would otherwise be composed, or
/// taken for others.
const CASED: &str = r"\s?[A-Za-z\x{b5}À-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-Ჿᴀ-ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-\x{1f7d}ᾀ-ᾴᾶ-ᾼ\x{1fbe}ῂ-ῄῆ-ῌῐ-\x{1fd3}ῖ-\x{1fdb}ῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤ\x{2126}ℨ\x{212a}-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-𐳲𑢠-𑣟𞤀-𞥃]+";

/// Everything between spaces and punctuation, with the space before it.
const BLOOM: &str = r" ?[^(\s|.,!?…。，、।۔،)]+";

const CHINESE_JAPANESE: &str = "[一-龥\u{3040}-ゟ゠-ヿ]+";
const CHINESE_KOREAN: &str = "[一-龥ࠀ-一가-\u{d7ff}]+";
const DIGIT: &str = r"\p{N}";

/// What is left of a number that is split in threes from its end: 1|234. The expressions that models publish
/// look ahead from each digit to the end of the number, whose work grows with the square of its length.
const FIRST_DIGITS: &str = r"\A\p{N}{1,2}(?=(?:\p{N}{3})+\z)";
const THREE_DIGITS: &str = r"\p{N}{1,3}";

/// What splits a text. The names are those of the models that were trained with it, as llama.cpp writes them
/// and groups them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PreTokenizer {
    /// Regular expressions: each splits what those before it left in one piece.
    splits: &'static [&'static str],
    /// Whether characters and their accents are composed first.
    composes: bool,
    /// Whether a word that is a token becomes that token, whatever the merges say.
    pub(super) ignores_merges: bool,
    /// Whether files without `add_bos_token` mean true.
    pub(super) adds_bos: bool,
}

impl PreTokenizer {
    const fn new(splits: &'static [&'static str]) -> Self {
        Self {
            splits,
            composes: false,
            ignores_merges: false,
            adds_bos: false,
        }
    }

    const fn composing(self) -> Self {
        Self { composes: true, ..self }
    }

    const fn ignoring_merges(self) -> Self {
        Self { ignores_merges: true, ..self }
    }

    const fn adding_bos(self) -> Self {
        Self { adds_bos: true, ..self }
    }

    /// The one of this name, or none that is implemented. Not there are those of encoders (`jina-v1-en`,
    /// `jina-v2-code`, `roberta-bpe`) and those without bytes (`gemma4`, `granite-embed-multi-311m`, `sarvam-moe`,
    /// `whitespace`).
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            // What llama.cpp takes for files that do not say.
            "default" => Self::new(&[r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"]),
            "gpt-2" | "phi-2" | "mpt" | "olmo" | "jais" | "trillion" | "gigachat" | "a.x-4.0"
            | "mellum" | "exaone4" | "granite-docling" | "modern-bert" | "jina-es" | "jina-de"
            | "jina-v2-es" | "jina-v2-de" => Self::new(&[GPT2]),
            "llama-bpe" | "llama3" | "llama-v3" | "falcon3" | "falcon-h1" | "pixtral"
            | "midm-2.0" | "lfm2" | "jina-v5-nano" => {
                Self::new(&[LLAMA3]).ignoring_merges().adding_bos()
            }
            "smaug-bpe" | "dbrx" | "glm4" | "chatglm-bpe" => Self::new(&[LLAMA3]),
            "qwen2" | "deepseek-r1-qwen" | "megrez" | "kormo" | "f2llmv2" => {
                Self::new(&[QWEN2]).composing()
            }
            "stablelm2" | "hunyuan" | "solar-open" | "grok-2" => Self::new(&[QWEN2]),
            "qwen35" => Self::new(&[QWEN35]).composing(),
            "laguna" => Self::new(&[r"[^\n]+|[\n]+", QWEN2]),
            "ufakzeka" => Self::new(&[NO_ENDINGS]),
            "bailingmoe" | "bailingmoe2" | "llada-moe" => Self::new(&[BAILING]),
            "seed-coder" => Self::new(&[SEED]),
            "exaone-moe" => Self::new(&[EXAONE_MOE]),
            "jais-2" => Self::new(&[JAIS2]),
            "minicpm5" => Self::new(&[THREE_DIGITS, MINICPM5]).ignoring_merges(),
            "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "exaone"
            | "minerva-7b" | "mellum2" => Self::new(&[DIGIT, GPT2]),
            "falcon" => Self::new(&[r"[\p{P}\$\+<=>\^~\|`]+", GPT2, "[0-9][0-9][0-9]"]),
            "tekken" => Self::new(&[TEKKEN]).ignoring_merges().adding_bos(),
            "gpt-4o" | "llama4" | "kanana2" | "talkie" | "minimax-m2" => Self::new(&[GPT4O]),
            "granite-embed-multi-97m" => Self::new(&[GPT4O]).ignoring_merges(),
            "deepseek-v3" | "hunyuan-dense" | "joyai-llm" | "hy_v4" => {
                Self::new(&[THREE_DIGITS, CHINESE_JAPANESE, DEEPSEEK3])
            }
            "deepseek-coder" => {
                Self::new(&[r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CHINESE_KOREAN, DIGIT])
            }
            "deepseek-llm" => Self::new(&[
                r"[\r\n]",
                CASED,
                "\\s?[!-/:-~！-／：-～‘-‟\u{3000}-。]+",
                r"\s+$",
                CHINESE_KOREAN,
                r"\p{N}+",
            ]),
            "spark2_5" => Self::new(&[THREE_DIGITS, CHINESE_JAPANESE, SPARK, DIGIT]),
            "youtu" => Self::new(&[
                "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥\u{3040}-ゟ゠-ヿ]+",
                YOUTU,
            ])
            .ignoring_merges(),
            "kimi-k2" => Self::new(&[KIMI_K2]),
            "tiny_aya" | "cohere2moe" => {
                Self::new(&[r"(?<!\d)\d++\b", FIRST_DIGITS, r"\G\d{3}", GPT4O])
            }
            "superbpe" => Self::new(&[r"\p{N}+", FIRST_DIGITS, r"\p{N}{3}"]),
            "afmoe" => Self::new(&[
                r"\p{N}+",
                FIRST_DIGITS,
                r"\p{N}{3}",
                "[一-鿿㐀-䶿豈-\u{faff}\u{3040}-ゟ゠-ヿ･-ﾟ⼀-\u{2fdf}\u{e00}-\u{e7f}\u{e80}-\u{eff}ក-\u{17ff}က-႟ꩠ-ꩿꧠ-\u{a9ff}가-\u{d7af}ᄀ-ᇿ]+",
                DEEPSEEK3,
            ]),
            "chameleon" => Self::new(&[
                "<sentinel:[0-9]+>",
                "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
                r"([\t\n]|    |  )",
                DIGIT,
                r"[\p{P}!-/:-@\[-`{-~]",
                GPT2,
            ])
            .adding_bos(),
            "poro-chat" | "bloom" | "gpt3-finnish" => Self::new(&[BLOOM]),
            "viking" => Self::new(&[BLOOM, DIGIT]),
            _ => return None,
        })
    }

    pub(super) fn read(metadata: &Metadata) -> Result<Self> {
        let name = metadata.text(PRE)?.unwrap_or("default");
        Self::named(name).ok_or_else(|| {
            LoadError::Unsupported {
                origin: metadata.origin().to_owned(),
                field: PRE,
                value: format!("{name:?}"),
                supported: "a pre-tokenizer such as `gpt-2`, `llama-bpe`, `qwen2`, `tekken`, `gpt-4o`, \
                            `deepseek-v3` or `smollm`",
            }
            .into()
        })
    }

    /// Qwen composes characters and their accents first.
    pub(super) fn normalizer(self) -> Value {
        if self.composes {
            json!({"type": "NFC"})
        } else {
            Value::Null
        }
    }

    /// The pre-tokenizer of `tokenizer.json`.
    pub(super) fn json(self) -> Value {
        let to_bytes = json!({
            "type": "ByteLevel",
            "add_prefix_space": false,
            "trim_offsets": true,
            "use_regex": false,
        });
        let splits = self.splits.iter().map(|regex| split(regex));
        let steps: Vec<Value> = splits.chain([to_bytes]).collect();
        json!({"type": "Sequence", "pretokenizers": steps})
    }
}

/// Makes each match a word of its own, and what lies between them too.
fn split(regex: &str) -> Value {
    json!({
        "type": "Split",
        "pattern": {"Regex": regex},
        "behavior": "Isolated",
        "invert": false,
    })
}

#[cfg(test)]
mod tests {
    use tokenizers::{
        OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer as _, PreTokenizerWrapper,
    };

    use super::*;

    const TEXT: &str = "It's 12345 HelloWorld'S naïve, 日本語のab!\n\n  x";

    /// The words that a pre-tokenizer makes of a text, with bars between them.
    fn words(name: &str, text: &str) -> String {
        let json = PreTokenizer::named(name).unwrap().json();
        let steps: PreTokenizerWrapper = serde_json::from_value(json).unwrap();
        let mut split = PreTokenizedString::from(text);
        steps.pre_tokenize(&mut split).unwrap();
        let splits = split.get_splits(OffsetReferential::Original, OffsetType::Byte);
        let words: Vec<&str> = splits.iter().map(|(_, (from, to), _)| &text[*from..*to]).collect();
        words.join("|")
    }

    /// The names of llama.cpp's `llama-vocab.cpp`: those that are implemented, by what they make of a text, and
    /// those that are refused. The words are those of Python's package `regex` with the same expressions.
    #[test]
    fn every_name_of_llama_cpp_is_implemented_or_refused() {
        for (names, expected) in [
            ("default", "It|'|s| |123|45| HelloWorld|'|S| naïve|,| 日本語のab|!|\n\n | x"),
            (
                "gpt-2 phi-2 mpt olmo jais trillion gigachat a.x-4.0 mellum exaone4 granite-docling \
                 modern-bert jina-es jina-de jina-v2-es jina-v2-de",
                "It|'s| 12345| HelloWorld|'|S| naïve|,| 日本語のab|!|\n\n | x",
            ),
            (
                "llama-bpe llama3 llama-v3 falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano \
                 smaug-bpe dbrx glm4 chatglm-bpe jais-2 minicpm5",
                "It|'s| |123|45| HelloWorld|'S| naïve|,| 日本語のab|!\n\n| | x",
            ),
            (
                "qwen2 deepseek-r1-qwen megrez kormo f2llmv2 stablelm2 hunyuan solar-open grok-2 qwen35 \
                 ufakzeka bailingmoe bailingmoe2 llada-moe",
                "It|'s| |1|2|3|4|5| HelloWorld|'S| naïve|,| 日本語のab|!\n\n| | x",
            ),
            (
                "laguna seed-coder",
                "It|'s| |1|2|3|4|5| HelloWorld|'S| naïve|,| 日本語のab|!|\n\n| | x",
            ),
            (
                "exaone-moe",
                "It|'s| |1|2|3|4|5| HelloWorld|'S| naïve|,| 日本語のab|!\n|\n| | x",
            ),
            (
                "smollm starcoder refact command-r codeshell exaone minerva-7b mellum2",
                "It|'s| |1|2|3|4|5| HelloWorld|'|S| naïve|,| 日本語のab|!|\n\n | x",
            ),
            ("falcon", "It|'|s| |123|45| HelloWorld|'|S| naïve|,| 日本語のab|!|\n\n | x"),
            ("tekken", "It|'s| |1|2|3|4|5| Hello|World|'S| naïve|,| 日本語のab|!\n\n| | x"),
            (
                "gpt-4o llama4 kanana2 talkie minimax-m2 granite-embed-multi-97m",
                "It's| |123|45| Hello|World'S| naïve|,| 日本語のab|!\n\n| | x",
            ),
            (
                "deepseek-v3 hunyuan-dense joyai-llm hy_v4",
                "It|'s| |123|45| HelloWorld|'S| naïve|,| |日本語の|ab|!\n\n| | x",
            ),
            (
                "deepseek-coder",
                "It|'|s| |1|2|3|4|5| HelloWorld|'|S| naïve|,| |日本語の|ab|!|\n|\n| | x",
            ),
            (
                "poro-chat bloom gpt3-finnish",
                "It's| 12345| HelloWorld'S| naïve|,| 日本語のab|!\n\n | x",
            ),
            (
                "deepseek-llm",
                "It|'|s| |12345| HelloWorld|'|S| na|ï|ve|,| |日本語の|ab|!|\n|\n| | x",
            ),
            (
                "spark2_5",
                "It|'s| |1|2|3|4|5| HelloWorld|'S| naïve|,| |日本語の|ab|!|\n|\n| | x",
            ),
            ("youtu", "It's| |1|2|3|4|5| Hello|World'S| naïve|,| |日本語の|ab|!\n\n| | x"),
            ("kimi-k2", "It's| |123|45| Hello|World'S| naïve|,| |日本語|のab|!\n\n| | x"),
            (
                "tiny_aya cohere2moe",
                "It's| |12|345| Hello|World'S| naïve|,| 日本語のab|!\n\n| | x",
            ),
            ("superbpe", "It's |12|345| HelloWorld'S naïve, 日本語のab!\n\n  x"),
            ("afmoe", "It|'s| |12|345| HelloWorld|'S| naïve|,| |日本語の|ab|!\n\n| | x"),
            (
                "chameleon",
                "It|'|s| |1|2|3|4|5| HelloWorld|'|S| naïve|,| 日本語のab|!|\n|\n|  |x",
            ),
            ("viking", "It's| |1|2|3|4|5| HelloWorld'S| naïve|,| 日本語のab|!\n\n | x"),
        ] {
            for name in names.split(' ') {
                assert_eq!(words(name, TEXT), expected, "{name}");
            }
        }
        let refused = "jina-v1-en jina-v2-code roberta-bpe gemma4 granite-embed-multi-311m sarvam-moe \
                       whitespace";
        for name in refused.split(' ') {
            assert_eq!(PreTokenizer::named(name), None, "{name}");
        }
    }

    /// Some split numbers in threes from the right, and one does so only at the end of a word.
    #[test]
    fn numbers_are_split_as_by_the_expressions_in_python() {
        let text = "x²1234567, 12345km Ω 1234";
        for (name, expected) in [
            ("tiny_aya", "x|²|1|234|567|,| |123|45|km| Ω| |1|234"),
            ("superbpe", "x|²1|234|567|, |12|345|km Ω |1|234"),
            ("afmoe", "x|²1|234|567|,| |12|345|km| Ω| |1|234"),
            ("deepseek-llm", "x|²1234567|,| |12345|km| Ω| |1234"),
            ("kimi-k2", "x|²12|345|67|,| |123|45|km| Ω| |123|4"),
        ] {
            assert_eq!(words(name, text), expected, "{name}");
        }
    }
}
