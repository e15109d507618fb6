use super::pausing::{Job, Scheduler};
use crate::support::{Case, Random};

/// (name, remaining, unread). A name in small letters belongs to a cancelled job.
type Short = (char, usize, usize);

fn jobs<T: FromIterator<Job>>(short: &[Short]) -> T {
    let job = |&(name, remaining, unread): &Short| {
        let cancelled = name.is_lowercase();
        Job { name, remaining, unread, cancelled }
    };
    short.iter().map(job).collect()
}

fn short<'a>(jobs: impl IntoIterator<Item = &'a Job>) -> Vec<Short> {
    jobs.into_iter().map(|job| (job.name, job.remaining, job.unread)).collect()
}

/// One step. `expected`: who got a token, who is running, who is waiting.
fn check(
    rule: &str,
    (max_running, capacity): (usize, usize),
    (running, waiting): (&[Short], &[Short]),
    (tokens, still_running, still_waiting): (&str, &[Short], &[Short]),
) {
    let case = Case::rule(rule)
        .given("max_running", max_running)
        .given("capacity", capacity)
        .given("running: (name, remaining, unread), a small letter is cancelled", running)
        .given("waiting", waiting);
    let mut scheduler = Scheduler {
        waiting: jobs(waiting),
        running: jobs(running),
        max_running,
        capacity,
    };
    let found: String = scheduler.step().into_iter().collect();
    let shown = |tokens: &str, running: &[Short], waiting: &[Short]| {
        format!("tokens for {tokens:?}, running {running:?}, waiting {waiting:?}")
    };
    let found = shown(&found, &short(&scheduler.running), &short(&scheduler.waiting));
    let expected = shown(tokens, still_running, still_waiting);
    case.holds(found == expected, &expected, Words(&found));
}

/// Shown without quotation marks.
struct Words<'a>(&'a str);

impl std::fmt::Debug for Words<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.0)
    }
}

#[test]
fn the_example_of_the_task() {
    let before: (&[Short], &[Short]) = (&[('A', 5, 1), ('B', 4, 3)], &[('C', 1, 0), ('D', 2, 0)]);
    let after: (&str, &[Short], &[Short]) = ("AC", &[('A', 4, 2), ('B', 4, 3)], &[('D', 2, 0)]);
    check(
        "the example above the function: a job whose stream is full is paused and doesn't count, so a waiting job joins",
        (2, 3),
        before,
        after,
    );
}

#[test]
fn each_running_job_gets_one_token() {
    let rule = "each running job gets one token: one fewer remains, one more is unread";
    let before: (&[Short], &[Short]) = (&[('A', 5, 0), ('B', 2, 1)], &[]);
    check(rule, (2, 9), before, ("AB", &[('A', 4, 1), ('B', 1, 2)], &[]));
    check(rule, (2, 9), (&[], &[]), ("", &[], &[]));
}

#[test]
fn first_come_first_served() {
    let rule = "the job that came first joins first, while fewer than max_running get a token";
    let waiting = [('C', 9, 0), ('A', 1, 0), ('B', 4, 0)];
    check(rule, (1, 9), (&[], &waiting), ("C", &[('C', 8, 1)], &waiting[1..]));
    let running = [('X', 3, 0)];
    let after: (&str, &[Short], &[Short]) = ("XCA", &[('X', 2, 1), ('C', 8, 1)], &[('B', 4, 0)]);
    check(rule, (3, 9), (&running, &waiting), after);
    check(rule, (1, 9), (&running, &waiting), ("X", &[('X', 2, 1)], &waiting));
}

#[test]
fn who_has_all_its_tokens_leaves() {
    let rule = "a job leaves with its last token, and its place is free at the next step";
    let before: (&[Short], &[Short]) = (&[('A', 1, 0), ('B', 2, 0)], &[('C', 2, 0)]);
    check(rule, (2, 9), before, ("AB", &[('B', 1, 1)], &[('C', 2, 0)]));
    let rule = "the jobs that stay keep their order, the order in which they joined";
    let running = [
        ('A', 1, 0),
        ('B', 2, 0),
        ('C', 3, 0),
        ('D', 1, 0),
        ('E', 2, 0),
    ];
    let stay = [('B', 1, 1), ('C', 2, 1), ('E', 1, 1)];
    check(rule, (5, 9), (&running, &[]), ("ABCDE", &stay, &[]));
    let rule =
        "a place that becomes free with a last token is given to no job before the next step";
    check(rule, (1, 9), (&[('A', 1, 0)], &[('C', 2, 0)]), ("A", &[], &[('C', 2, 0)]));
    let rule = "a job leaves with its last token, whether its tokens have been read or not";
    check(rule, (2, 3), (&[('A', 1, 2)], &[]), ("A", &[], &[]));
}

#[test]
fn a_full_stream_pauses_its_job() {
    let rule = "a job whose stream is full gets no token, keeps its place, and the others go on";
    let before: (&[Short], &[Short]) = (&[('A', 5, 3), ('B', 5, 2), ('C', 5, 3)], &[]);
    check(rule, (3, 3), before, ("B", &[('A', 5, 3), ('B', 4, 3), ('C', 5, 3)], &[]));
}

#[test]
fn a_paused_job_holds_up_nobody_who_waits() {
    let rule = "paused jobs do not count: others join in their stead";
    let before: (&[Short], &[Short]) =
        (&[('A', 5, 3), ('B', 5, 3)], &[('C', 2, 0), ('D', 2, 0), ('E', 2, 0)]);
    let running = [('A', 5, 3), ('B', 5, 3), ('C', 1, 1), ('D', 1, 1)];
    check(rule, (2, 3), before, ("CD", &running, &[('E', 2, 0)]));
}

#[test]
fn however_many_are_paused_others_join() {
    let rule = "paused jobs do not count, however many they are";
    let before: (&[Short], &[Short]) = (
        &[('A', 5, 3), ('B', 5, 3), ('C', 5, 3), ('D', 5, 3)],
        &[('E', 2, 0), ('F', 2, 0)],
    );
    let running = [
        ('A', 5, 3),
        ('B', 5, 3),
        ('C', 5, 3),
        ('D', 5, 3),
        ('E', 1, 1),
    ];
    check(rule, (1, 3), before, ("E", &running, &[('F', 2, 0)]));
}

#[test]
fn many_may_wait() {
    let case = Case::rule("jobs that wait go on waiting, however many there are")
        .given("waiting", "500 jobs")
        .given("max_running", 2);
    let waiting: Vec<Short> = vec![('A', 1, 0); 500];
    let waiting = jobs(&waiting);
    let mut scheduler = Scheduler { waiting, running: Vec::new(), max_running: 2, capacity: 2 };
    let tokens = scheduler.step().len();
    case.equal(
        "2 tokens, 498 waiting".to_owned(),
        format!("{tokens} tokens, {} waiting", scheduler.waiting.len()),
    );
}

#[test]
fn who_has_caught_up_resumes_where_there_is_a_slot() {
    let rule = "a job that has caught up resumes, before a waiting one joins";
    let before: (&[Short], &[Short]) = (&[('A', 5, 3), ('B', 5, 0)], &[('E', 2, 0)]);
    check(rule, (2, 3), before, ("BE", &[('A', 5, 3), ('B', 4, 1), ('E', 1, 1)], &[]));
    let before: (&[Short], &[Short]) = (&[('A', 5, 1), ('B', 5, 0)], &[('E', 2, 0)]);
    let running = [('A', 4, 2), ('B', 4, 1)];
    check(rule, (2, 3), before, ("AB", &running, &[('E', 2, 0)]));
    let rule = "if many have caught up, no more than max_running get a token: the first";
    let before: (&[Short], &[Short]) =
        (&[('A', 5, 1), ('B', 5, 0), ('C', 2, 1), ('D', 1, 1)], &[('E', 2, 0)]);
    let running = [('A', 4, 2), ('B', 4, 1), ('C', 2, 1), ('D', 1, 1)];
    check(rule, (2, 3), before, ("AB", &running, &[('E', 2, 0)]));
    let rule = "the jobs that joined first go first, however many of their tokens are unread";
    let before: (&[Short], &[Short]) = (&[('A', 5, 2), ('B', 5, 1), ('C', 2, 0)], &[]);
    check(rule, (2, 3), before, ("AB", &[('A', 4, 3), ('B', 4, 2), ('C', 2, 0)], &[]));
    let rule = "a paused job leaves its slot to the next that is not paused";
    let before: (&[Short], &[Short]) =
        (&[('A', 5, 3), ('B', 5, 0), ('C', 2, 1), ('D', 1, 1)], &[('E', 2, 0)]);
    let running = [('A', 5, 3), ('B', 4, 1), ('C', 1, 2), ('D', 1, 1)];
    check(rule, (2, 3), before, ("BC", &running, &[('E', 2, 0)]));
}

#[test]
fn cancelled_jobs_go_before_the_step() {
    let rule = "a cancelled job gets no token more, and its place is free at this very step";
    let before: (&[Short], &[Short]) = (&[('a', 5, 0), ('B', 5, 0)], &[('C', 2, 0)]);
    check(rule, (2, 3), before, ("BC", &[('B', 4, 1), ('C', 1, 1)], &[]));
    let rule = "a cancelled job goes, even if it is paused";
    check(rule, (2, 3), (&[('a', 5, 3), ('B', 5, 0)], &[]), ("B", &[('B', 4, 1)], &[]));
    let rule = "a cancelled job that waits never joins, even if there is no room for it";
    let waiting = [('c', 2, 0), ('D', 3, 0), ('e', 2, 0)];
    check(rule, (2, 3), (&[], &waiting), ("D", &[('D', 2, 1)], &[]));
    check(rule, (1, 3), (&[('A', 2, 0)], &waiting), ("A", &[('A', 1, 1)], &[('D', 3, 0)]));
}

#[test]
fn a_slow_reader_among_others() {
    let case =
        Case::rule("a slow reader slows only itself (shown: which jobs got a token at each step)")
            .given(
                "jobs",
                "A with 8 tokens, B with 4, C with 3, D with 2, all there from the beginning",
            )
            .given("max_running", 2)
            .given("capacity", 2)
            .given("read", "all at once after each step, but A only after the steps 5 and 8");
    let waiting = jobs(&[('A', 8, 0), ('B', 4, 0), ('C', 3, 0), ('D', 2, 0)]);
    let mut scheduler = Scheduler { waiting, running: Vec::new(), max_running: 2, capacity: 2 };
    let mut steps = Vec::new();
    for count in 1..=12 {
        steps.push(scheduler.step().into_iter().collect::<String>());
        for job in &mut scheduler.running {
            if job.name != 'A' || [5, 8].contains(&count) {
                job.unread = 0;
            }
        }
    }
    let expected = [
        "AB", "AB", "BC", "BC", "CD", "AD", "A", "", "A", "A", "", "",
    ];
    case.equal(expected.map(str::to_owned).to_vec(), steps);
}

#[test]
fn all_texts_are_written_to_their_end() {
    let mut random = Random::new(0);
    for count in 1..20 {
        let lengths: Vec<usize> = (0..count).map(|_| 1 + random.below(6)).collect();
        let (max_running, capacity) = (1 + random.below(3), 1 + random.below(3));
        let case = Case::rule("each job gets as many tokens as it asked for, if it is read")
            .given("max_running", max_running)
            .given("capacity", capacity)
            .given("tokens of the jobs A, B, and so on", &lengths);
        let names = 'A'..='Z';
        let waiting: Vec<Short> =
            names.clone().zip(&lengths).map(|(name, &length)| (name, length, 0)).collect();
        let waiting = jobs(&waiting);
        let mut scheduler = Scheduler { waiting, running: Vec::new(), max_running, capacity };
        let mut text = String::new();
        for _ in 0..400 {
            text.extend(scheduler.step());
            for job in &mut scheduler.running {
                job.unread -= random.below(job.unread + 1);
            }
        }
        let found: Vec<usize> = names.take(count).map(|name| text.matches(name).count()).collect();
        case.equal(lengths, found);
    }
}
