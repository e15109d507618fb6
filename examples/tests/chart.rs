//! Figures: the right format, the same bytes each time, and typed errors instead of panics.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use resvg::usvg::roxmltree::Document;
use slowburn_examples::chart::{
    Axis, BatchSizePoint, Distribution, Format, LineChart, LossPoint, NucleusStep, Series,
    Survivors, TimelineMark, TimelineStep, batch_sizes, distributions, entropy, lines, loss,
    nucleus, survivors, timeline,
};
use slowburn_examples::chart::{Error, Result};

/// Texts that would break a careless SVG.
const TOKENS: [&str; 6] = [" the", "\n", "\"", "<b>", "]]>&amp;", "\u{0}\u{fffe}"];
const PROBABILITIES: [f32; 6] = [0.4, 0.2, 0.1, 0.05, 0.03, 0.02];

fn distribution(temperature: f32) -> Distribution {
    let probabilities = PROBABILITIES.map(|p| p / (1.0 + temperature)).to_vec();
    Distribution { temperature, entropy: 2.0 + temperature, probabilities }
}

fn line_chart(points: &[(f64, f64)]) -> LineChart {
    LineChart {
        x: Axis::linear("tokens"),
        y: Axis::log("time (ms)"),
        series: vec![
            Series::new("a < b & \"c\"", points.to_vec()),
            Series::new("none", []),
        ],
    }
}

fn batch_size_point(sequences: usize) -> BatchSizePoint {
    let seconds_per_token = 0.001 * (4.0 + sequences as f64);
    BatchSizePoint {
        sequences,
        tokens_per_second: sequences as f64 / seconds_per_token,
        seconds_per_token,
    }
}

type Chart = (&'static str, fn(&Path) -> Result<()>);

/// Every chart, on sound data.
const CHARTS: [Chart; 8] = [
    ("distributions", |path| {
        distributions(path, "a <title> & more", &TOKENS, &[0.5, 1.0, 2.0].map(distribution))
    }),
    ("entropy", |path| {
        entropy(path, "entropy", &[(0.5, 1.0), (1.0, 2.5), (1.5, 4.0)])
    }),
    ("survivors", |path| {
        let kept = |k: usize| (0..TOKENS.len()).map(|rank| rank < k).collect();
        let settings = [1, 5].map(|k| Survivors { label: format!("k = {k}"), kept: kept(k) });
        survivors(path, "survivors", &TOKENS, &PROBABILITIES, &settings)
    }),
    ("nucleus", |path| {
        let step = |survivors| NucleusStep { token: "</text>".to_owned(), survivors };
        nucleus(path, "nucleus", &[1, 40, 3].map(step), 0.9, 5)
    }),
    ("batch sizes", |path| {
        batch_sizes(path, "batch sizes", &[1, 4, 16].map(batch_size_point))
    }),
    ("timeline", |path| {
        use TimelineMark::{Absent, Decode, Preempted, Prefill, Waiting};
        let step = |(end, marks): (f64, [TimelineMark; 2])| TimelineStep {
            end_seconds: end,
            tokens: 7,
            marks: marks.to_vec(),
        };
        let steps = [
            (0.1, [Prefill, Absent]),
            (0.3, [Decode, Waiting]),
            (0.4, [Decode, Preempted]),
        ];
        timeline(path, "timeline", &steps.map(step), Some(8))
    }),
    ("loss", |path| {
        let points =
            LossPoint::read_csv("step,seconds,set,loss\n20,10,train,7.9\n40,21,held-out,7.1\n")?;
        loss(path, "loss", &points)
    }),
    ("lines", |path| lines(path, "lines", &[line_chart(&[(1.0, 0.5), (2.0, 700.0)])])),
];

/// A folder that is deleted when it is dropped. `tempfile` would do this, and then each `cargo run
/// --example` would build it first.
struct Folder(PathBuf);

impl Folder {
    fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn folder() -> Folder {
    static MADE: AtomicUsize = AtomicUsize::new(0);
    let name = format!("charts-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&path).expect("a temporary folder");
    Folder(path)
}

/// What `chart` writes to a file with this extension.
fn drawn((name, chart): Chart, extension: &str) -> Vec<u8> {
    let folder = folder();
    let path = folder.path().join(format!("{name}.{extension}"));
    chart(&path).unwrap_or_else(|error| panic!("{name}.{extension}: {error}"));
    fs::read(path).expect("the chart that was written")
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    for chart in CHARTS {
        for extension in ["svg", "png"] {
            assert!(drawn(chart, extension) == drawn(chart, extension), "{}.{extension}", chart.0);
        }
    }
    assert!(drawn(CHARTS[0], "gif") == drawn(CHARTS[0], "gif"));
}

#[test]
fn an_svg_is_sound_xml_and_tells_its_title_and_size() {
    for chart in CHARTS {
        let text = String::from_utf8(drawn(chart, "svg")).expect("UTF-8");
        let svg = Document::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", chart.0));
        let root = svg.root_element();
        assert_eq!(root.attribute("width"), Some("480"));
        let title = root.first_element_child().expect("an element");
        assert_eq!(title.tag_name().name(), "title");
        assert!(!title.text().unwrap_or_default().is_empty(), "{}", chart.0);
    }
}

#[test]
fn tokens_are_shown_escaped() {
    let text = String::from_utf8(drawn(CHARTS[0], "svg")).expect("UTF-8");
    let svg = Document::parse(&text).expect("XML");
    let texts: Vec<&str> = svg
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .filter_map(|node| node.text())
        .map(str::trim)
        .collect();
    for label in [
        "a <title> & more",
        "\"\u{a0}the\"",
        r#""\n""#,
        r#""\"""#,
        "\"<b>\"",
        "\"]]>&amp;\"",
        r#""\0\u{fffe}""#,
    ] {
        assert!(texts.contains(&label), "no {label} in {texts:?}");
    }
}

#[test]
fn a_png_has_two_pixels_to_a_css_pixel() {
    for chart in CHARTS {
        let text = String::from_utf8(drawn(chart, "svg")).expect("UTF-8");
        let svg = Document::parse(&text).expect("XML");
        let css = |name| {
            svg.root_element()
                .attribute(name)
                .and_then(|value| value.parse::<f64>().ok())
                .expect("a length")
        };
        let png = resvg::tiny_skia::Pixmap::decode_png(&drawn(chart, "png")).expect("a PNG");
        assert_eq!(f64::from(png.width()), 2.0 * css("width"), "{}", chart.0);
        assert!((f64::from(png.height()) - 2.0 * css("height")).abs() <= 1.0, "{}", chart.0);
    }
}

/// Text is drawn in the font that is compiled in: without one, resvg leaves it out.
#[test]
fn a_png_has_letters() {
    let dark = |title: &str| {
        let folder = folder();
        let path = folder.path().join("chart.png");
        lines(&path, title, &[line_chart(&[(1.0, 1.0)])]).expect("a chart");
        let png = resvg::tiny_skia::Pixmap::decode_png(&fs::read(path).expect("the file"))
            .expect("a PNG");
        png.pixels().iter().filter(|pixel| pixel.red() < 0x60).count()
    };
    assert!(dark("MMMMMMMM") > dark("") + 500);
}

#[test]
fn a_gif_has_one_frame_a_temperature_and_loops() {
    let bytes = drawn(CHARTS[0], "gif");
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(&bytes[..]).expect("a GIF");
    let size = (decoder.width(), decoder.height());
    assert_eq!(size, (480, 337));
    assert_eq!(decoder.repeat(), gif::Repeat::Infinite);
    let mut frames = 0;
    while let Some(frame) = decoder.read_next_frame().expect("a frame") {
        assert_eq!((frame.width, frame.height), size);
        assert!(frame.delay > 0);
        let drawn = frame.buffer.chunks(4).filter(|pixel| pixel[3] > 0).count();
        let pixels = usize::from(frame.width) * usize::from(frame.height);
        // The first frame is whole but for its rounded corners; the others hold what changed.
        assert!(
            drawn > 0 && (drawn > pixels * 99 / 100) == (frames == 0),
            "frame {frames}: {drawn}"
        );
        frames += 1;
    }
    assert_eq!(frames, 3);
}

#[test]
fn another_extension_names_the_three() {
    for chart in CHARTS {
        for name in ["chart.bmp", "chart", ".svg"] {
            let error = chart.1(Path::new(name)).expect_err(name);
            assert!(matches!(error, Error::Format { .. }), "{name}: {error}");
            for format in [".svg", ".png", ".gif"] {
                assert!(error.to_string().contains(format), "{error}");
            }
        }
    }
    assert_eq!(Format::of(Path::new("a.b/c.SVG")).expect("a format"), Format::Svg);
}

#[test]
fn a_chart_that_does_not_move_is_no_gif() {
    for chart in &CHARTS[1..] {
        let error = chart.1(Path::new("chart.gif")).expect_err(chart.0);
        assert!(matches!(error, Error::Format { .. }), "{}: {error}", chart.0);
    }
}

#[test]
fn a_path_that_cannot_be_written_is_named() {
    let folder = folder();
    let paths: [PathBuf; 2] = [
        folder.path().join("missing/chart.svg"),
        folder.path().join("folder.png"),
    ];
    fs::create_dir(&paths[1]).expect("a folder");
    for chart in CHARTS {
        for path in &paths {
            match chart.1(path) {
                Err(Error::Write { path: named, .. }) => assert_eq!(&named, path),
                other => panic!("{}: {other:?}", chart.0),
            }
        }
    }
}

#[test]
fn nothing_to_show_is_an_error() {
    let folder = folder();
    let path = folder.path().join("chart.svg");
    let empty = [
        distributions(&path, "t", &TOKENS, &[]),
        distributions(
            &path,
            "t",
            &[],
            &[Distribution { temperature: 1.0, entropy: 0.0, probabilities: vec![] }],
        ),
        entropy(&path, "t", &[]),
        survivors(&path, "t", &[], &[], &[Survivors { label: String::new(), kept: vec![] }]),
        survivors(&path, "t", &TOKENS, &PROBABILITIES, &[]),
        nucleus(&path, "t", &[], 0.9, 40),
        batch_sizes(&path, "t", &[]),
        loss(&path, "t", &[]),
        lines(&path, "t", &[]),
        lines(&path, "t", &[line_chart(&[])]),
    ];
    for (n, result) in empty.into_iter().enumerate() {
        assert!(matches!(result, Err(Error::Empty { .. })), "{n}: {result:?}");
    }
    assert!(!path.exists());
}

#[test]
fn numbers_that_cannot_be_drawn_are_refused() {
    let folder = folder();
    let path = folder.path().join("chart.svg");
    let with = |probability: f32| {
        let mut distribution = distribution(1.0);
        distribution.probabilities[2] = probability;
        distributions(&path, "t", &TOKENS, &[distribution])
    };
    let none = NucleusStep { token: String::new(), survivors: 0 };
    let kept = Survivors { label: String::new(), kept: vec![true; 2] };
    let refused = [
        with(f32::NAN),
        with(-0.1),
        with(1.1),
        with(0.9),
        distributions(&path, "t", &TOKENS, &[distribution(f32::NAN)]),
        distributions(&path, "t", &TOKENS, &[distribution(f32::INFINITY)]),
        entropy(&path, "t", &[(1.0, f64::NAN)]),
        entropy(&path, "t", &[(1.0, 1e9)]),
        survivors(&path, "t", &["a", "b"], &[0.5, f32::NAN], std::slice::from_ref(&kept)),
        survivors(&path, "t", &["a", "b"], &[0.5, 0.0], &[kept]),
        nucleus(&path, "t", &[none], 0.9, 40),
        nucleus(&path, "t", &[NucleusStep { token: String::new(), survivors: 1 }], 0.9, 0),
        nucleus(&path, "t", &[NucleusStep { token: String::new(), survivors: 1 }], f32::NAN, 1),
        batch_sizes(
            &path,
            "t",
            &[BatchSizePoint { seconds_per_token: f64::NAN, ..batch_size_point(1) }],
        ),
        lines(&path, "t", &[line_chart(&[(f64::NAN, 1.0)])]),
        lines(&path, "t", &[line_chart(&[(1.0, f64::INFINITY)])]),
        lines(&path, "t", &[line_chart(&[(1.0, 0.0)])]),
    ];
    for (n, result) in refused.into_iter().enumerate() {
        assert!(matches!(result, Err(Error::Value { .. })), "{n}: {result:?}");
    }
    assert!(!path.exists());
}

#[test]
fn as_many_values_as_tokens() {
    let folder = folder();
    let path = folder.path().join("chart.svg");
    let short = Survivors { label: "short".to_owned(), kept: vec![true] };
    for result in [
        distributions(&path, "t", &TOKENS[..2], &[distribution(1.0)]),
        survivors(&path, "t", &TOKENS, &PROBABILITIES[..2], &[]),
        survivors(&path, "t", &TOKENS, &PROBABILITIES, &[short]),
    ] {
        assert!(matches!(result, Err(Error::Length { .. } | Error::Empty { .. })), "{result:?}");
    }
}

#[test]
fn extremes_are_drawn() {
    let folder = folder();
    let path = folder.path().join("chart.svg");
    let certain = Distribution { temperature: 0.0, entropy: 0.0, probabilities: vec![1.0] };
    distributions(&path, "t", &["x"], &[certain.clone(), certain]).expect("a certain token");
    let same = |points: &[(f64, f64)]| lines(&path, "t", &[line_chart(points)]);
    same(&[(0.0, 1.0)]).expect("one point");
    same(&[(1.0, 5.0), (1.0, 5.0)]).expect("one point twice");
    let chart = line_chart(&[(1.0, 1.0)]);
    let mut crowded = chart.clone();
    crowded.series =
        (0..40).map(|n| Series::new(&format!("a rather long label {n}"), [(1.0, 1.0)])).collect();
    lines(&path, &"W".repeat(200), &vec![crowded; 2]).expect("a legend that is too tall");
    let svg = fs::read_to_string(&path).expect("the chart");
    assert!(
        svg.contains(&format!("<title>{}</title>", "W".repeat(200))),
        "the whole title, unseen"
    );
    assert!(
        svg.contains("WW…") && !svg.contains(&format!(">\n{}", "W".repeat(40))),
        "the title that fits"
    );
    lines(&path, "t", &vec![chart; 7]).expect("seven charts");
    same(&[(-1e300, 1e-300), (1e300, 1e300)]).expect("far apart");
    let many: Vec<_> =
        (0..5000).map(|n| NucleusStep { token: "x".repeat(100), survivors: n + 1 }).collect();
    nucleus(&path, "t", &many, 0.9, 1).expect("many steps");
}

#[test]
fn a_training_log_is_read_by_its_column_names() {
    let points = LossPoint::read_csv("loss,step,set\n2.5,20,train\n").expect("a log");
    assert_eq!(points, [LossPoint { step: 20, set: "train".to_owned(), loss: 2.5 }]);
    assert_eq!(LossPoint::read_csv("step,set,loss\n").expect("a log"), []);
    for (csv, line) in [
        ("", 1),
        ("step,loss\n1,2\n", 1),
        ("step,set,loss\n1,train,2\n1,train\n", 3),
        ("step,set,loss\n-1,train,2\n", 2),
        ("step,set,loss\n1,train,two\n", 2),
    ] {
        match LossPoint::read_csv(csv) {
            Err(Error::LossLog { line: named, .. }) => assert_eq!(named, line, "{csv:?}"),
            other => panic!("{csv:?}: {other:?}"),
        }
    }
}

#[test]
fn a_resumed_run_replaces_the_steps_that_it_repeats() {
    let drawn = |rows: &str| {
        let folder = folder();
        let path = folder.path().join("loss.svg");
        let points = LossPoint::read_csv(&format!("step,set,loss\n{rows}")).expect("a log");
        loss(&path, "loss", &points).expect("a chart");
        fs::read(path).expect("the chart")
    };
    let resumed = drawn("1,train,9\n2,train,8\n3,train,7\n2,train,6\n4,train,5\n");
    assert!(resumed == drawn("1,train,9\n2,train,6\n4,train,5\n"));
    assert!(resumed != drawn("1,train,9\n2,train,8\n4,train,5\n"));
}

#[test]
fn the_log_of_the_bundled_model_can_be_drawn() {
    let csv = fs::read_to_string("../models/ember/loss.csv").expect("the log");
    let folder = folder();
    let path = folder.path().join("loss.svg");
    loss(&path, "loss", &LossPoint::read_csv(&csv).expect("a log")).expect("a chart");
    let svg = fs::read_to_string(path).expect("the chart");
    assert!(svg.contains("train") && svg.contains("held-out"));
}
