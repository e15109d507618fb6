//! What the engine answers is what the library computes.

use std::ops::ControlFlow;
use std::path::Path;

use serde_json::{Value, json};
use slowburn::device::{self, DeviceChoice, Precision};
use slowburn::generate::{self, Options};
use slowburn::kernels::{Quantized, Rounding};
use slowburn::model::Input;
use slowburn::pretrained::Pretrained;
use slowburn::sampling::{Sampler, SamplingParams, softmax, statistics};
use slowburn::storage::{MatrixFormat, Storage};
use slowburn_live::Engine;

fn weights() -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    std::fs::read(root.join("book/src/live/ember.gguf")).expect("`cargo xtask live` writes it")
}

/// The engine, and the model that it has.
fn both() -> (Engine, Pretrained) {
    let bytes = weights();
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let pretrained = Pretrained::from_gguf(&bytes, "the weights", &device, Precision::F32).unwrap();
    (Engine::new(bytes).unwrap(), pretrained)
}

fn ask(engine: &mut Engine, widget: u32, request: &Value) -> Value {
    serde_json::from_str(&engine.ask(widget, &request.to_string()).unwrap()).unwrap()
}

fn numbers(values: &Value) -> Vec<f32> {
    values.as_array().unwrap().iter().map(|value| value.as_f64().unwrap() as f32).collect()
}

fn ids(tokens: &Value) -> Vec<u32> {
    let ids = tokens.as_array().unwrap().iter();
    ids.map(|token| token.get("id").unwrap_or(token).as_u64().unwrap() as u32).collect()
}

/// The logits, `[vocab]`, behind these tokens.
fn logits(pretrained: &Pretrained, ids: &[u32]) -> Vec<f32> {
    pretrained.model.forward(&mut [Input::whole(ids)]).unwrap().remove(0)
}

/// The tokens of the cached loop.
fn expected(
    pretrained: &Pretrained,
    prompt: &str,
    sampling: &Value,
    max_tokens: usize,
) -> Vec<u32> {
    let sampling: SamplingParams = serde_json::from_value(sampling.clone()).unwrap();
    let options = Options { max_tokens, sampling, ..Options::default() };
    let prompt = pretrained.prompt_ids(prompt).unwrap();
    let go_on = &mut |_: &generate::Chosen<'_>| ControlFlow::Continue(());
    generate::cached(&pretrained.model, &prompt, &options, go_on).unwrap().ids
}

fn settings() -> Vec<Value> {
    vec![
        json!({ "seed": 42 }),
        json!({ "seed": 7, "temperature": 0.8, "top_p": 0.95 }),
        json!({ "temperature": 0.0, "repetition_penalty": 1.3 }),
        json!({ "seed": 1, "temperature": 1.5, "top_k": 20, "min_p": 0.02, "presence_penalty": 0.5 }),
    ]
}

#[test]
fn a_story_is_that_of_the_cached_loop() {
    let (mut engine, pretrained) = both();
    let story = engine.open("story").unwrap();
    for sampling in settings() {
        for prompt in ["Once upon a time", ""] {
            let begin = json!({ "prompt": prompt, "max_tokens": 90, "sampling": sampling });
            ask(&mut engine, story, &json!({ "begin": begin }));
            let (mut found, mut text) = (Vec::new(), String::new());
            loop {
                let more = ask(&mut engine, story, &json!({ "next": { "tokens": 7 } }));
                found.extend(ids(&more["more"]["ids"]));
                text += more["more"]["text"].as_str().unwrap();
                if !more["more"]["end"].is_null() {
                    break;
                }
            }
            let expected = expected(&pretrained, prompt, &sampling, 90);
            assert_eq!(found, expected, "{prompt:?} {sampling}");
            assert_eq!(text, pretrained.tokenizer.decode(&expected).unwrap());
        }
    }
}

#[test]
fn tokens_drawn_one_by_one_are_those_of_the_cached_loop() {
    let (mut engine, pretrained) = both();
    let widget = engine.open("candidates").unwrap();
    let prompt = "One day, a small";
    for sampling in settings() {
        ask(&mut engine, widget, &json!({ "begin": { "prompt": prompt } }));
        let mut text = Value::Null;
        for _ in 0..30 {
            text = ask(&mut engine, widget, &json!({ "draw": { "sampling": sampling } }));
        }
        let expected = expected(&pretrained, prompt, &sampling, 30);
        assert_eq!(ids(&text["text"]["output"]), expected, "{sampling}");

        // Each step is shown with the distribution that its token was drawn from.
        let params: SamplingParams = serde_json::from_value(sampling.clone()).unwrap();
        let sampler = Sampler::new(&params).unwrap();
        let prompt_ids = pretrained.prompt_ids(prompt).unwrap();
        for step in [0, 11, 29] {
            let show = json!({ "step": step, "sampling": sampling, "count": 5 });
            let shown = ask(&mut engine, widget, &json!({ "show": show }))["shown"].clone();
            assert_eq!(shown["drawn"], json!(expected[step]));
            let logits = logits(&pretrained, &[&prompt_ids[..], &expected[..step]].concat());
            let p = sampler.distribution(&logits, &prompt_ids, &expected[..step]).unwrap();
            for candidate in shown["candidates"].as_array().unwrap() {
                let id = candidate["token"]["id"].as_u64().unwrap() as usize;
                let last = candidate["probabilities"].as_array().unwrap().last().unwrap();
                assert_eq!(last.as_f64().unwrap() as f32, p[id]);
            }
        }
    }
}

#[test]
fn another_token_is_chosen_and_the_text_goes_on_from_it() {
    let (mut engine, pretrained) = both();
    let widget = engine.open("candidates").unwrap();
    let prompt = "Once upon a time, there was a";
    let greedy = json!({ "temperature": 0.0 });
    ask(&mut engine, widget, &json!({ "begin": { "prompt": prompt } }));
    for _ in 0..8 {
        ask(&mut engine, widget, &json!({ "draw": { "sampling": greedy } }));
    }
    let little = pretrained.tokenizer.encode(" little").unwrap()[1];
    let choose = json!({ "choose": { "step": 0, "id": little } });
    let text = ask(&mut engine, widget, &choose);
    assert_eq!(ids(&text["text"]["output"]), [little]);
    for _ in 0..8 {
        ask(&mut engine, widget, &json!({ "draw": { "sampling": greedy } }));
    }
    let text = ask(&mut engine, widget, &json!({ "draw": { "sampling": greedy } }));
    let other = expected(&pretrained, &format!("{prompt} little"), &greedy, 9);
    assert_eq!(ids(&text["text"]["output"])[1..], other);
}

#[test]
fn both_loops_are_those_of_the_library() {
    let (mut engine, pretrained) = both();
    let widget = engine.open("loops").unwrap();
    let prompt = "Once upon a time";
    let sampling = json!({ "seed": 5, "temperature": 0.8 });
    ask(
        &mut engine,
        widget,
        &json!({ "begin": { "prompt": prompt, "sampling": sampling } }),
    );
    let expected = expected(&pretrained, prompt, &sampling, 20);
    for (i, id) in expected.into_iter().enumerate() {
        let naive = ask(&mut engine, widget, &json!("naive"))["step"].clone();
        let cached = ask(&mut engine, widget, &json!("cached"))["step"].clone();
        assert_eq!([&naive["token"]["id"], &cached["token"]["id"]], [&json!(id); 2]);
        assert_eq!([&naive["computed"], &naive["read"]], [&json!(5 + i), &json!(0)]);
        let (computed, read) = if i == 0 { (5, 0) } else { (1, 4 + i) };
        assert_eq!([&cached["computed"], &cached["read"]], [&json!(computed), &json!(read)]);
    }
}

#[test]
fn a_text_with_guesses_is_that_of_the_library_in_fewer_passes() {
    let (mut engine, pretrained) = both();
    let widget = engine.open("guess").unwrap();
    let prompt = "Once upon a time";
    let sampling = json!({ "temperature": 0.0 });
    let begin = json!({ "begin": { "prompt": prompt, "sampling": sampling } });
    ask(&mut engine, widget, &begin);
    let (mut tokens, mut right) = (Vec::new(), 0);
    for _ in 0..100 {
        let step = ask(&mut engine, widget, &json!("step"))["step"].clone();
        let (guessed, gained) = (ids(&step["guessed"]), ids(&step["tokens"]));
        right += guessed.iter().zip(&gained).take_while(|(guess, token)| guess == token).count();
        tokens.extend(gained);
    }
    assert_eq!(tokens.len(), 100 + right);
    assert!(right > 0);
    assert_eq!(tokens, expected(&pretrained, prompt, &sampling, tokens.len()));
}

#[test]
fn stories_in_formats_are_those_of_models_in_these_formats() {
    let (mut engine, first) = both();
    let device = device::open(DeviceChoice::Cpu).unwrap();
    let int4 = Storage {
        layers: Some(Quantized::Int4),
        embedding: Some(MatrixFormat::Quantized(Quantized::Int4)),
        rounding: Rounding::LeastSquares,
        ..Precision::F32.into()
    };
    let last = Pretrained::from_gguf(&weights(), "the weights", &device, int4).unwrap();
    let widget = engine.open("formats").unwrap();
    let (prompt, greedy) = ("One day", json!({ "temperature": 0.0 }));
    let begin = json!({ "prompt": prompt, "max_tokens": 40, "sampling": greedy });
    let begun = ask(&mut engine, widget, &json!({ "begin": begin }))["begun"].clone();
    assert_eq!(begun[0]["bytes"], json!(first.model.bytes()));
    assert_eq!(begun[3]["bytes"], json!(last.model.bytes()));
    let mut stories = Value::Null;
    for _ in 0..41 {
        stories = ask(&mut engine, widget, &json!("next"))["stories"].clone();
    }
    for (i, pretrained) in [(0, &first), (3, &last)] {
        assert_eq!(ids(&stories[i]["tokens"]), expected(pretrained, prompt, &greedy, 40));
        assert_eq!(stories[i]["has_ended"], true);
    }
    let distances = ask(&mut engine, widget, &json!("compare"))["distances"].clone();
    let text = first.prompt_ids(prompt).unwrap();
    let text = [text, ids(&stories[0]["tokens"])].concat();
    let distance = generate::divergence(&first.model, &last.model, &text).unwrap();
    assert_eq!(distances[0]["kl"], 0.0);
    assert_eq!(distances[3]["kl"], json!(distance.mean_kl()));
}

/// However few blocks there are, every request has the text that it has alone.
#[test]
fn requests_of_the_scheduler_have_their_own_texts() {
    let (mut engine, pretrained) = both();
    let widget = engine.open("scheduler").unwrap();
    let begin = json!({
        "blocks": 4, "token_budget": 16, "policy": "chunked-prefill", "prefix_cache": true,
    });
    let empty = ask(&mut engine, widget, &json!({ "begin": begin }));
    assert_eq!([&empty["owners"], &empty["has_work"]], [&json!([0, 0, 0, 0]), &json!(false)]);
    let long =
        "Once upon a time, there was a little brown frog called Finn. Early one windy morning";
    let prompts = [
        format!("{long}, he"),
        format!("{long}, she"),
        "One day".to_owned(),
    ];
    for (seed, prompt) in prompts.iter().enumerate() {
        let add = json!({ "prompt": prompt, "max_tokens": 50, "seed": seed });
        ask(&mut engine, widget, &json!({ "add": add }));
    }
    let mut answer = ask(&mut engine, widget, &json!("step"));
    while answer["has_work"] == true {
        answer = ask(&mut engine, widget, &json!("step"));
    }
    assert!(answer["preemptions"].as_u64().unwrap() > 0, "{answer}");
    for (seed, prompt) in prompts.iter().enumerate() {
        let sampling = json!({ "temperature": 0.8, "top_p": 0.95, "seed": seed });
        let expected = expected(&pretrained, prompt, &sampling, 50);
        let text = [pretrained.prompt_ids(prompt).unwrap(), expected].concat();
        let text = pretrained.tokenizer.decode(&text).unwrap();
        assert_eq!(answer["sequences"][seed]["text"], json!(text));
    }
}

#[test]
fn attention_looks_back_only_and_the_last_layer_says_what_the_model_says() {
    let (mut engine, pretrained) = both();
    let widget = engine.open("anatomy").unwrap();
    let mut look = |text: &str| ask(&mut engine, widget, &json!({ "text": text }));
    let (short, long) = (look("Once upon a time"), look("Once upon a time, there was"));
    let weight = |answer: &Value, at: [usize; 4]| {
        let [layer, head, query, key] = at;
        answer["attention"][layer][head][query][key].as_f64().unwrap()
    };
    for (layer, head) in (0..5).flat_map(|layer| (0..4).map(move |head| (layer, head))) {
        for query in 0..5 {
            let row = (0..5).map(|key| weight(&short, [layer, head, query, key]));
            assert!((row.sum::<f64>() - 1.0).abs() < 1e-5);
            for key in 0..5 {
                let at = [layer, head, query, key];
                assert_eq!(weight(&short, at) > 0.0, key <= query, "{at:?}");
                // What comes after a position changes nothing for it.
                assert!((weight(&short, at) - weight(&long, at)).abs() < 1e-5, "{at:?}");
            }
        }
    }
    let ids = pretrained.prompt_ids("Once upon a time").unwrap();
    let best = statistics::ranked(&softmax(&logits(&pretrained, &ids)))[0];
    let said = &short["lens"][4][4][0];
    assert_eq!(said["token"]["id"], json!(best.0));
    assert_eq!(said["probability"].as_f64().unwrap() as f32, best.1);
    assert_eq!(short["shapes"][1]["shape"], json!([1, 5, 192]));
}

/// Every stop of a way is the one before it, and what the network makes of it.
#[test]
fn the_way_of_a_token_ends_in_the_logits_of_the_model() {
    let (mut engine, pretrained) = both();
    let widget = engine.open("way").unwrap();
    let text = "Finn met a fox. Then Finn";
    let ids = pretrained.prompt_ids(text).unwrap();
    let attention = pretrained.model.attention(&ids).unwrap();
    for position in [None, Some(0), Some(4)] {
        let at = position.unwrap_or(ids.len() - 1);
        let way = ask(&mut engine, widget, &json!({ "text": text, "position": position }));
        assert_eq!(way["position"], json!(at));
        assert_eq!(self::ids(&way["tokens"]), ids);
        let logits = logits(&pretrained, &ids[..=at]);
        let ranked = statistics::ranked(&softmax(&logits));
        for (shown, (id, probability)) in way["logits"].as_array().unwrap().iter().zip(ranked) {
            assert_eq!(shown["token"]["id"], json!(id));
            let [logit, p] = ["logit", "probability"].map(|it| shown[it].as_f64().unwrap() as f32);
            assert_eq!([logit, p], [logits[id as usize], probability]);
        }
        let mut before = numbers(&way["embedding"]);
        for (layer, of_layer) in way["layers"].as_array().unwrap().iter().zip(&attention) {
            let of = |stop: &str| numbers(&layer[stop]);
            let sum = |a: Vec<f32>, b: Vec<f32>| -> Vec<f32> {
                a.iter().zip(&b).map(|(a, b)| a + b).collect()
            };
            assert_eq!(of("after_attention"), sum(before, of("attention")));
            assert_eq!(of("output"), sum(of("after_attention"), of("feed_forward")));
            assert_eq!([of("query").len(), of("key").len(), of("value").len()], [192, 96, 96]);
            assert_eq!([of("gate").len(), of("up").len(), of("gated").len()], [512; 3]);
            for ((gate, up), gated) in of("gate").iter().zip(of("up")).zip(of("gated")) {
                assert!((gate / (1.0 + (-gate).exp()) * up - gated).abs() < 1e-5);
            }
            // A rotation keeps lengths, and does nothing at position 0.
            for (plain, rotated) in [("query", "rotated_query"), ("key", "rotated_key")] {
                let [plain, rotated] = [of(plain), of(rotated)];
                let length = |x: &[f32]| x.iter().map(|x| x * x).sum::<f32>().sqrt();
                assert!((length(&plain) - length(&rotated)).abs() < 1e-3 * length(&plain));
                assert_eq!(plain == rotated, at == 0);
            }
            for (row, head) in layer["weights"].as_array().unwrap().iter().zip(of_layer) {
                let row = numbers(row);
                assert_eq!(row.len(), at + 1);
                let same = row.iter().zip(&head[at]).all(|(a, b)| (a - b).abs() < 1e-5);
                assert!(same, "{row:?} instead of {:?}", head[at]);
            }
            before = of("output");
        }
    }
}

#[test]
fn a_layout_has_the_positions_of_a_pass() {
    let (mut engine, _) = both();
    let widget = engine.open("layout").unwrap();
    let mut cells = |kind: &str| {
        let answer = ask(&mut engine, widget, &json!({ "lengths": [3, 1], "kind": kind }));
        let rows = answer["rows"].as_array().unwrap().clone();
        let positions: Vec<Vec<Value>> = rows
            .iter()
            .map(|row| {
                row.as_array().unwrap().iter().map(|cell| cell["position"].clone()).collect()
            })
            .collect();
        (json!(positions), answer["computed"].clone(), answer["padding"].clone())
    };
    assert_eq!(cells("right"), (json!([[0, 1, 2], [0, null, null]]), json!(6), json!(2)));
    assert_eq!(cells("left"), (json!([[0, 1, 2], [null, null, 0]]), json!(6), json!(2)));
    assert_eq!(cells("end to end"), (json!([[0, 1, 2, 0]]), json!(4), json!(0)));
}

#[test]
fn a_text_is_cut_into_the_tokens_of_the_library() {
    let (mut engine, pretrained) = both();
    let widget = engine.open("tokens").unwrap();
    for text in ["", "Once upon a time", "naïve 🍎  12", "<|end|>"] {
        let answer = ask(&mut engine, widget, &json!({ "text": text }));
        assert_eq!(ids(&answer["tokens"]), pretrained.tokenizer.encode(text).unwrap());
        let tokens = answer["tokens"].as_array().unwrap().iter();
        let bytes: Vec<u8> = tokens
            .flat_map(|token| token["bytes"].as_array().unwrap().clone())
            .map(|byte| byte.as_u64().unwrap() as u8)
            .collect();
        let visible = if text == "<|end|>" { "" } else { text };
        assert_eq!(bytes, visible.as_bytes());
    }
}

/// After a prompt that is refused, nothing goes on: least of all the text before it.
#[test]
fn a_prompt_that_is_refused_leaves_nothing_behind() {
    let (mut engine, _) = both();
    let long = "frog ".repeat(600);
    let sampling = json!({ "seed": 1 });
    let begin = |prompt: &str| json!({ "begin": { "prompt": prompt, "max_tokens": 9, "sampling": sampling } });
    for (kind, next) in [
        ("story", json!({ "next": { "tokens": 1 } })),
        ("loops", json!("cached")),
        ("candidates", json!({ "show": { "step": 0, "sampling": sampling, "count": 3 } })),
    ] {
        let widget = engine.open(kind).unwrap();
        ask(&mut engine, widget, &begin("Once upon a time"));
        ask(&mut engine, widget, &next);
        let refused = engine.ask(widget, &begin(&long).to_string()).unwrap_err().to_string();
        assert!(refused.contains("512"), "{kind}: {refused}");
        assert!(engine.ask(widget, &next.to_string()).is_err(), "{kind} goes on");
    }
}

#[test]
fn what_cannot_be_done_is_an_error_that_says_so() {
    let (mut engine, _) = both();
    let widget = engine.open("candidates").unwrap();
    let mut refused =
        |request: Value| engine.ask(widget, &request.to_string()).unwrap_err().to_string();
    assert!(refused(json!({ "choose": { "step": 3, "id": 1 } })).contains("no step 3"));
    let show = json!({ "step": 0, "sampling": { "temperature": -1 }, "count": 3 });
    assert!(refused(json!({ "show": show })).contains("no step 0"));
    assert!(refused(json!({ "nothing": {} })).contains("unknown variant"));
    assert!(engine.open("nothing").unwrap_err().to_string().contains("no widget"));
    assert!(engine.ask(9, "{}").unwrap_err().to_string().contains("no such widget"));
    assert!(Engine::new(b"GGUF".to_vec()).is_err());
}
