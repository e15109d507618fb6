//! A chat template is somebody else's program: whatever it does, it ends soon, in little stack and
//! memory, with a text or with one clear line.

mod common;

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use common::counting::{self, Counting, asked_by};
use common::{device, load};
use slowburn::tokenizer::{ChatOptions, ChatTemplate, Message, Role, SpecialTokens};
use slowburn::{Error, RequestError};

#[global_allocator]
static COUNTING: Counting = Counting;

/// Far above what is allowed, and far below what harms a machine: what asks for more gets
/// nothing, and the test ends.
const REFUSED: usize = 4 << 30;

/// No template may take more at any moment.
const MOST_MEMORY: usize = 1 << 30;

/// Less than any thread has that Rust starts by itself.
const STACK: usize = 1 << 20;

/// In an unoptimised build on a busy machine. It takes a second or two at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// Renders it with little stack, and checks what it took.
#[track_caller]
fn render(source: &str) -> slowburn::Result<String> {
    let template = ChatTemplate::new(source, "test.jinja");
    let (done, result) = mpsc::channel();
    let run = move || {
        let messages = [Message::new(Role::User, "Hello")];
        let text = template.render(&messages, &SpecialTokens::new(), &ChatOptions::default());
        done.send(text).unwrap();
    };
    let beginning: String = source.chars().take(200).collect();
    let (text, asked) = asked_by(|| {
        let thread = thread::Builder::new().stack_size(STACK).spawn(run).unwrap();
        let text = result.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no end: {beginning}"));
        thread.join().unwrap();
        text
    });
    assert!(asked.most < MOST_MEMORY, "{} bytes: {beginning}", asked.most);
    text
}

#[track_caller]
fn assert_ends(source: &str) {
    if let Err(error) = render(source) {
        let text = error.to_string();
        assert!(matches!(error, Error::Request(RequestError::ChatTemplate { .. })), "{error:?}");
        assert!(text.starts_with("test.jinja: the chat template"), "{text}");
        assert!(text.len() < 1000 && !text.contains(char::is_control), "{text:?}");
    }
}

#[track_caller]
fn assert_refused(source: &str, reason: &str) {
    assert_ends(source);
    let text = render(source).unwrap_err().to_string();
    assert!(text.contains(reason), "`{reason}` is not in: {text}");
}

/// One test, as the memory belongs to the whole process.
#[test]
fn every_template_ends_in_little_stack_and_memory() {
    counting::limit(REFUSED);
    what_holds_itself();
    what_is_nested();
    what_panics();
    what_takes_long();
    what_takes_memory();
    what_is_usual();
    what_is_too_long();
}

fn what_holds_itself() {
    for holding in [
        "ns",
        "[ns]",
        "{'a': ns}",
        "(1, [ns])",
        "ns|items",
        "[ns]|map('list')|list",
        "ns.items()",
    ] {
        for using in [
            "{{ ns }}",
            "{{ ns == ns }}",
            "{{ ns|tojson }}",
            "{{ ns ~ '' }}",
            "{{ ns in [ns] }}",
            "{{ [ns]|sort }}",
        ] {
            assert_ends(&format!(
                "{{% set ns = namespace(a=1) %}}{{% set ns.a = {holding} %}}{using}"
            ));
        }
    }
    let two = "{% set a = namespace() %}{% set b = namespace() %}{% set a.b = b %}{% set b.a = a %}{{ a }}";
    assert_refused(two, "deep in each other");
    assert_ends("{% set a = namespace() %}{% set a.b = [a, a] %}{% set a.c = [a, a] %}{{ a }}");
    assert_ends("{% set a = namespace() %}{{ namespace(a=a) }}{{ [[a]] }}{{ [a]|tojson }}");
    for holding in [
        "[a].index",
        "cycler(a)",
        "joiner(a)",
        "loop",
        "{'a': a}.items()",
        "[(1, a)]|groupby(0)",
    ] {
        assert_ends(&format!(
            "{{% set a = namespace() %}}{{% for x in [a, a] %}}{{% set a.x = {holding} %}}{{{{ a }}}}{{{{ a.x == a.x }}}}{{% endfor %}}"
        ));
    }
    assert_ends("{% set a = namespace() %}{% set a.b %}{{ a }}{% endset %}{{ a.b }}{{ a }}");
    assert_ends("{% macro m() %}{{ m }}{{ m == m }}{% endmacro %}{{ m() }}{{ [m, m] }}");
    assert_ends(
        "{% for x in [1] %}{{ loop }}{{ [loop] == [loop] }}{{ loop.changed(loop) }}{% endfor %}",
    );
}

fn what_is_nested() {
    for (open, middle, close) in [
        ("1 + ", "1", ""),
        ("not ", "1", ""),
        ("- ", "1", ""),
        ("1 if x else ", "1", ""),
        ("", "x", "|trim"),
        ("", "x", ".a"),
        ("", "x", "[0]"),
        ("", "x", "()"),
        ("", "x", " is defined"),
        ("", "1", " == 1"),
        ("", "1", " ~ 'a'"),
        ("", "1", " * 1"),
        ("[", "1", "]"),
        ("(", "1", ",)"),
        ("{1: ", "1", "}"),
        ("f(", "1", ")"),
        ("(1 + ", "1", " + 1 + 1)"),
    ] {
        for n in [10, 30, 60, 100, 200, 240, 20_000] {
            let (open, close) = (open.repeat(n), close.repeat(n));
            for (before, after) in [
                ("{{ ", " }}"),
                ("{% set y = ", " %}"),
                ("{% if ", " %}{% endif %}"),
            ] {
                assert_ends(&format!("{before}{open}{middle}{close}{after}"));
            }
        }
    }
    for (open, close) in [
        ("{% if x %}", "{% endif %}"),
        ("{% for x in [1] %}", "{% endfor %}"),
        ("{% with %}", "{% endwith %}"),
        ("{% set x %}", "{% endset %}"),
        ("{% filter trim %}", "{% endfilter %}"),
        ("{% macro m() %}", "{% endmacro %}{{ m() }}"),
        ("{% call f() %}", "{% endcall %}"),
        ("{% autoescape true %}", "{% endautoescape %}"),
        ("{% if x %}{% elif x %}", "{% endif %}"),
        ("{% if x %}{% else %}", "{% endif %}"),
    ] {
        for n in [20, 70, 140, 20_000] {
            assert_ends(&(open.repeat(n) + "x" + &close.repeat(n)));
        }
    }
    for n in [200, 240, 20_000] {
        assert_ends(&format!("{{% if x %}}{}{{% endif %}}", "{% elif x %}y".repeat(n)));
    }
    // Values that are nested by a program.
    for step in [
        "[x]",
        "(x,)",
        "{'a': x}",
        "[x, x]",
        "x|batch(1)",
        "[x]|map('list')|list",
        "dict(a=x)",
        "[x]|groupby(0)",
        "[x]|list",
        "x|zip(x)",
        "x|chain([x])",
        "[x].index",
        "x.index",
        "cycler(x)",
        "joiner(x)",
        "{'a': x}.values()",
        "{'a': x}.items()",
        "namespace(x=x)",
        "dict([('a', x)])",
    ] {
        for using in ["{{ x }}", "{{ x == x }}"] {
            let steps = format!("{{% set x = {step} %}}").repeat(2000);
            assert_ends(&format!("{{% set x = [1] %}}{steps}{using}"));
            assert_ends(&format!(
                "{{% set ns = namespace(x=[1]) %}}{{% for i in range(70000) %}}{{% set x = ns.x %}}\
                 {{% set ns.x = {step} %}}{{% endfor %}}{{% set x = ns.x %}}{using}"
            ));
        }
    }
    let maps = |n: usize| "'map', ".repeat(n);
    assert_refused(&format!("{{{{ 'a'|map({}'upper') }}}}", maps(1000)), "`map`");
    assert_refused(&format!("{{{{ 'a'|map(*[{}'upper']) }}}}", maps(60_000)), "`map`");
    assert_refused(
        "{% set ns = namespace(x=1) %}{% for i in range(70) %}{% set ns.x = [ns.x] %}{% endfor %}",
        "deep",
    );
    // Programs that call themselves.
    for source in [
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}",
        "{% macro m(x) %}{{ m([x]) }}{% endmacro %}{{ m(1) }}",
        "{% macro m(x) %}{% for y in [1] %}{% with %}{{ m(x ~ x) }}{% endwith %}{% endfor %}{% endmacro %}{{ m('x') }}",
        "{% for x in [1] recursive %}{{ loop([x]) }}{% endfor %}",
        "{% for x in [1] recursive %}{% set y = loop([[x]]) %}{% endfor %}",
        "{% macro m() %}{{ caller() }}{% endmacro %}{% macro n() %}{% call m() %}{{ n() }}{% endcall %}{% endmacro %}{{ n() }}",
        "{% block a %}{{ self.a() }}{% endblock %}",
    ] {
        assert_ends(source);
    }
}

fn what_panics() {
    for source in [
        "{{ 1 is divisibleby 0 }}",
        "{{ 1.5 is divisibleby 0 }}",
        "{{ -170141183460469231731687303715884105728 is divisibleby -1 }}",
        "{{ '%.1000000000f'|format(1.5) }}",
        "{{ '%.70000f'|format(1.5) }}",
        "{{ '{:.1000000000f}'.format(1.5) }}",
        "{{ '%.9999f'|format(1.5) }}",
        "{{ '%9999d %9999d'|format(1, 2) }}",
        "{{ '%*d'|format(1000000000, 1) }}",
        "{{ '{:{}}'.format(1, 1000000000) }}",
        "{{ 9223372036854775807 * 9223372036854775807 * 9223372036854775807 }}",
        "{{ 10 ** 1000000 }}{{ 2.5 ** 1e300 }}{{ -1 ** 0.5 }}{{ 0 ** -1 }}",
        "{{ 'abc'[0:2:-1] }}{{ 'abc'[::-9223372036854775808] }}{{ [1][9223372036854775807::2] }}",
        "{{ range(0, 9223372036854775807, 9223372036854775807) }}{{ range(-9223372036854775807, 9223372036854775807) }}",
        "{{ 1.5|round(1000000000) }}{{ 1e300|int }}{{ 'nan'|float|int }}{{ -9223372036854775808|abs }}",
        "{{ [1, 'a', none, [], {}]|sort }}{{ [1, 'a']|min }}{{ 'a' < 1 }}{{ ['nan'|float, 1, 'nan'|float]|sort }}",
        "{{ 'x'|batch(0) }}",
        "{{ 'x'|slice(0) }}",
        "{{ 1 % 0 }}",
        "{{ 1.5 % 0 }}",
        "{{ -170141183460469231731687303715884105728 % -1 }}",
        "{{ '%s' % [1][2:] }}{{ '%(a)s' % 1 }}{{ '%' % 1 }}",
        "{{ 'x'.center(-9223372036854775808) }}{{ 'x'.zfill(-1) }}{{ 'x'|truncate(1) }}",
        "{{ 'é'.rsplit('', 1) }}{{ 'é'.partition('') }}{{ [1]|urlencode }}",
        "{{ 'é'.split('')|list }}{{ ''.replace('', 'x') }}{{ 'é'|truncate(1) }}",
    ] {
        assert_ends(source);
    }
    assert_refused("{{ 1 is divisibleby 0 }}", "divisible by 0");
}

fn what_takes_long() {
    for source in [
        "{% for i in range(100000) %}{{ range(100000)|sum }}{% endfor %}",
        "{% for i in range(100000) %}{% if range(100000)|list == range(100000)|list %}{% endif %}{% endfor %}",
        "{% set x = range(100000) * 1000 %}{{ x == x }}",
        "{% set x = [range(100000)] * 100000 %}{{ x|length }}{{ x == x }}",
        "{% set x = 'x' * 10000000 %}{% for i in range(100000) %}{{ 'y' in x }}{% endfor %}",
        "{% set x = 'x' * 10000000 %}{% for i in range(100000) %}{{ x[9999999] }}{% endfor %}",
        "{% set x = 'x' * 1000000 %}{{ x.strip(x) }}{{ x|trim(x) }}{{ x.count('') }}{{ x|upper|lower|title }}",
        "{% set x = range(30000)|list %}{{ x|select('in', x)|list|length }}",
        "{% set x = range(30000)|list %}{% for i in x %}{% for j in x %}{% for k in x %}{% endfor %}{% endfor %}{% endfor %}",
        "{% set x = range(100000)|list %}{% for i in range(100000) %}{{ x|sort|unique|last }}{% endfor %}",
        "{% set x = range(100000)|list %}{% for i in range(100000) %}{{ -1 in x }}{{ x.count(-1) }}{{ x|length }}{% endfor %}",
    ] {
        assert_ends(source);
    }
    let literal = |item: &str| vec![item; 20_000].join(", ");
    let nested = "{% set x = [1] %}".to_owned() + &"{% set x = [x, x] %}".repeat(18);
    assert_ends(&format!("{nested}{{{{ {{ {} }} }}}}", literal("x: 1")));
    let many = format!(
        "{{% set x = {{ {} }} %}}",
        (0..1000).fold(String::new(), |x, i| format!("{x}'a{i}': 1, "))
    );
    assert_ends(&format!("{many}{{{{ dict({}) }}}}", literal("**x")));
    assert_ends(&format!("{many}{{{{ range({}) }}}}", literal("*x")));
    // 2^60 values that are two lists of two each.
    for using in [
        "{{ x }}",
        "{{ x == x }}",
        "{{ x|tojson }}",
        "{{ x ~ x }}",
        "{{ x in [x] }}",
        "{{ x < x }}",
        "{{ {x: 1} }}",
        "{{ [x, x]|unique|list }}",
        "{{ x|string|length }}",
    ] {
        assert_ends(&format!("{{% set x = [1] %}}{}{using}", "{% set x = [x, x] %}".repeat(60)));
    }
}

fn what_takes_memory() {
    for source in [
        "{{ 'x'|indent(1000000000000) }}",
        "{{ ('x\n' * 1000000)|indent(1000000) }}",
        "{{ ('x\n' * 1000000)|indent(width=1000000) }}",
        "{{ 'x'|batch(1000000000000, 'x')|list }}",
        "{{ [1]|slice(1000000000000)|list }}",
        "{% set x = 'x' * 100000 %}{{ x.replace('x', x) }}",
        "{% set x = 'x' * 100000 %}{{ x|replace('x', x) }}",
        "{% set x = 'x' * 100000 %}{{ x|replace('', x) }}",
        "{% set x = 'x' * 100000 %}{{ x.join(range(100000)) }}",
        "{% set x = 'x' * 100000 %}{{ range(100000)|join(x) }}",
        "{% set x = 'x' * 100000 %}{{ range(100000)|join(d=x) }}",
        "{% set x = 'x' * 100000 %}{{ x|join(x) }}{{ x.join(x) }}",
        "{{ ([{'a': 1}] * 10000)|sort(attribute='a,' * 10000) }}",
        "{% set x = 'x' * 50000000 %}{{ x|list|length }}",
        "{% set x = 'x' * 50000000 %}{{ x|sort|length }}",
        "{% set x = 'x' * 50000000 %}{{ x|sort(*[])|length }}",
        "{% filter sort %}{{ 'x' * 50000000 }}{% endfilter %}",
        "{% set x = 'x' * 50000000 %}{{ [x, x, x]|map('list')|list|length }}",
        "{% set x = 'x' * 50000000 %}{{ range(*x) }}",
        "{% set x = 'x' * 50000000 %}{{ x.split('x')|length }}",
        "{% set x = 'x' * 50000000 %}{{ [x, x, x]|map('sort')|list|length }}",
        "{% set x = 'x' * 50000000 %}{% for c in x %}{% endfor %}",
        "{% set x = '\n' * 50000000 %}{{ x.splitlines()|length }}{{ x|lines|length }}",
        "{{ ('x' * 99999999) ~ ('x' * 99999999) ~ ('x' * 99999999) ~ ('x' * 99999999) }}",
        "{{ (0,) * 100000000 }}",
        "{{ [0] * 100000000 == [0] * 100000000 }}",
        "{{ 1|tojson(indent=255) }}{{ [[[[[[[[[[1]]]]]]]]]]|tojson(indent=255) }}",
        "{{ ([[[[[[[[[[[1]]]]]]]]]]] * 1000000)|tojson(indent=255) }}",
        "{{ ('%9999d' * 100000)|format(*range(100000)) }}",
        "{{ ('{0:9999}' * 100000).format('x') }}",
        "{{ ('{0}' * 100000).format('x' * 100000) }}",
        "{{ namespace(**{'x': 1}) }}{{ dict(*range(100000)) }}",
        "{% macro d(x) %}{{ x }}{{ x }}{% endmacro %}{{ d(d(d(d(d(d(d(d(d(d(d(d(d(d(d(d(d(d(d(d('x' * 1000)))))))))))))))))))) }}",
        "{% macro d(x, n) %}{% if n %}{{ d(x ~ x, n - 1) }}{% endif %}{% endmacro %}{{ d('x' * 1000, 40) }}",
        "{% macro d(x, n) %}{% if n %}{{ d(x + x, n - 1) }}{% endif %}{% endmacro %}{{ d([1, 2], 40) }}",
        "{% for x in ['x' * 1000] recursive %}{{ loop([x ~ x]) }}{% endfor %}",
        "{{ debug() }}{{ messages|pprint }}",
        "{{ 'x'|indent('y' * 1000000) }}{{ ('\n' * 1000)|indent('y' * 1000000) }}",
        "{{ ('\t' * 1000000).expandtabs(1000000) }}",
        "{{ ('x ' * 1000000)|wordwrap(1, wrapstring='y' * 1000) }}",
        "{{ ('{}' * 100000).format(*range(100000)) }}{{ '{0:{1}}'.format(1, 99999) }}",
        "{{ '%s' * 100000 % (range(100000)|list * 2) }}{{ '%.99999d' % 1 }}",
        "{{ '{a[b][c].d!r:>{w}}'.format(a={'b': {'c': 'x' * 10000000}}, w=9999) }}",
        "{{ ('x' * 10000000)|e|e|escape|forceescape }}",
        "{{ ['x' * 1000000] * 100|tojson(sort_keys=true, indent='y' * 1000000) }}",
        "{{ 1|tojson(indent='x' * 100000000) }}{{ [[[[1]]]]|tojson(indent='x' * 10000000) }}",
        "{{ [[1] * 10000] * 10000 | sum(start=[]) }}",
        "{{ ([[1] * 1000] * 10000) | sum(start=[]) | length }}",
        "{{ dict.fromkeys('x' * 50000000) }}{{ dict('x' * 50000000) }}",
        "{% macro m() %}{{ varargs }}{{ kwargs }}{{ m(*varargs, **kwargs) }}{% endmacro %}{{ m(*range(10000), a=1) }}",
        "{% set c = cycler(*range(100000)) %}{% for i in range(100000) %}{{ c.next() }}{{ c }}{% endfor %}",
        "{{ 'x'.center(1000000000000) }}",
        "{{ 'x'|center(1000000000000) }}",
        "{{ 'x'.ljust(1000000000000) }}{{ 'x'.rjust(9223372036854775807) }}",
        "{{ 'x'.zfill(1000000000000) }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ '%s' * 1000000 % ((('x' * 100000),) * 1000000) }}",
        "{% set x = 'x' * 50000000 %}{{ x.rsplit('x')|length }}",
        "{% set x = '\u{e9}' * 50000000 %}{{ x|urlencode|length }}",
        "{% set x = 'x y' * 20000000 %}{{ x|wordcount }}{{ x|truncate(10) }}{{ x.title()|length }}",
    ] {
        assert_ends(source);
    }
    // What the compiler would compute before anything runs.
    for literal in [
        "('x' * 99999999)",
        "((1,) * 99999999)",
        "([0] * 99999999)",
        "(3 * 'x' * 33333333)",
    ] {
        for operator in [" ~ ", " + ", " == ", ", "] {
            let many = vec![literal; 60].join(operator);
            assert_ends(&format!("{{{{ [{many}]|length }}}}"));
        }
    }
    let doubled =
        |step: &str| format!("{{% set x = 'x' * 1000 %}}{}{{{{ x|length }}}}", step.repeat(40));
    assert_refused(&doubled("{% set x = x ~ x %}"), "too much");
    assert_refused(&doubled("{% set x = x + x %}"), "too much");
    assert_refused(&doubled("{% set x = [x, x]|join %}"), "too much");
    assert_refused(&doubled("{% set x = x|replace('x', 'xx') %}"), "too much");
    assert_refused(&doubled("{% set x = x.format(x) ~ x.upper() ~ x %}"), "too much");
    assert_refused(&doubled("{% set x %}{{ x }}{{ x }}{% endset %}"), "writes more than");
    assert_ends(&doubled("{% with y = x ~ x %}{% set x = y %}{{ y }}{% endwith %}"));
    let raw = format!(
        "{{% set y %}}{{% for i in range(100000) %}}{}{{% endfor %}}{{% endset %}}",
        "x".repeat(1 << 19)
    );
    assert_refused(&raw, "writes more than");
}

/// Long conversations, and templates that look at all messages for each.
fn what_is_usual() {
    let messages: Vec<Message> = (0..1000)
        .flat_map(|i| {
            [Role::User, Role::Assistant].map(|role| Message::new(role, format!("{i} ").repeat(20)))
        })
        .collect();
    let source = "{%- set ns = namespace(last=0) -%}
        {%- for message in messages[::-1] -%}
          {%- if message.role == 'user' and not ns.last -%}{%- set ns.last = loop.index0 -%}{%- endif -%}
        {%- endfor -%}
        {%- for message in messages -%}
          {%- set previous = messages[loop.index0 - 1].role -%}
          {%- if '</think>' in message.content -%}{%- set content = message.content.split('</think>')[-1].lstrip('\\n') -%}
          {%- else -%}{%- set content = message['content'] | trim -%}{%- endif -%}
          {{- '<|' + message['role'] + '|>' ~ previous ~ '\\n' + content + '<|end|>\\n' -}}
          {%- if loop.last and add_generation_prompt -%}{{- '<|assistant|>' -}}{%- endif -%}
        {%- endfor -%}{{ messages|selectattr('role', 'equalto', 'user')|list|length }}";
    let template = ChatTemplate::new(source, "test.jinja");
    let text = template.render(&messages, &SpecialTokens::new(), &ChatOptions::default()).unwrap();
    assert!(text.ends_with("<|assistant|>1000"), "{}", &text[text.len() - 50..]);
}

/// A text that no context can hold is refused before it is encoded, which takes a hundred times its
/// memory.
fn what_is_too_long() {
    let mut pretrained = load("qwen3", &device());
    let template = ChatTemplate::new("{{'a'*60000000}}", "test.jinja");
    pretrained.tokenizer = pretrained.tokenizer.clone().with_chat_template(template);
    let messages = [Message::new(Role::User, "Hello")];
    let (errors, asked) = asked_by(|| {
        let chat = pretrained.chat_ids(&messages, &ChatOptions::default());
        let prompt = pretrained.prompt_ids(&"a".repeat(60_000_000));
        [chat.unwrap_err(), prompt.unwrap_err()]
    });
    for error in errors {
        assert!(
            matches!(error, Error::Request(RequestError::TextTooLong { bytes: 60_000_000, .. })),
            "{error:?}"
        );
        assert!(error.to_string().contains("60000000 bytes"), "{error}");
    }
    assert!(asked.most < MOST_MEMORY, "{} bytes", asked.most);
    // Of a text that may be encoded, the tokens are counted.
    let ids = pretrained.prompt_ids(&"a".repeat(60_000)).unwrap();
    let context = pretrained.model.config().context_length;
    assert!(ids.len() > context);
    let error = pretrained.model.check_prompt(&ids).unwrap_err();
    assert!(matches!(error, Error::Request(RequestError::PromptTooLong { .. })), "{error:?}");
}
