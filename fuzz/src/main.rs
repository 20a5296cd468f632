//! Drives the fuzz targets with mutations of the corpora; it knows nothing of coverage.
//!
//! `cargo run --release -p countersign-fuzz -- [RUNS] [TARGET] [SEED]` mutates the corpora with a
//! seeded generator, prints a line of progress each second, writes inputs that panic, break a law or
//! take longer than the limit to `target/fuzz/`, and fails if there were any. In place of a number of
//! runs there may be a time, `60s`: each target is then given that long, one after the other.
//! `countersign-fuzz seeds` writes the texts that mutations begin with to `target/fuzz/corpus/`, a
//! folder for each target, for `fuzz/guided`.

mod mutate;
mod seeds;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::{Duration, Instant};

use countersign_fuzz::{Target, run};
use mutate::Dice;

/// An input on which a reader takes longer than this is a finding.
const SLOW: Duration = Duration::from_millis(20);
/// Findings of one kind after which a target is left alone: more of the same helps nobody.
const FINDINGS_MAX: usize = 12;
/// How long one finding is made smaller.
const MINIMISE_TIME: Duration = Duration::from_secs(1);

/// Threads that try inputs.
const WORKERS: u64 = 2;
/// Inputs above this size are written to disk before they are tried.
const LARGE_BYTES: usize = 1024;

/// Something a target should not have done.
struct Finding {
    target: Target,
    what: String,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.first().is_some_and(|first| first == "seeds") {
        return write_seeds();
    }
    let amount = arguments.first().map_or("1000000", String::as_str);
    let seconds = amount.strip_suffix('s');
    let Ok(amount) = seconds.unwrap_or(amount).parse::<u64>() else {
        eprintln!("error: `{amount}` is neither a number of runs nor a time like `60s`");
        std::process::exit(2);
    };
    let only = arguments
        .get(1)
        .map(String::as_str)
        .filter(|name| *name != "all");
    let seed: u64 = arguments
        .get(2)
        .and_then(|seed| seed.parse().ok())
        .unwrap_or(1);
    let targets: Vec<Target> = Target::ALL
        .into_iter()
        .filter(|target| only.is_none_or(|only| target.name() == only))
        .collect();
    if targets.is_empty() {
        eprintln!("error: there is no target `{}`", only.unwrap_or(""));
        std::process::exit(2);
    }
    // A panic is a finding that is reported below, not a message on the screen.
    std::panic::set_hook(Box::new(|_| {}));
    let findings = Mutex::new(Vec::new());
    if seconds.is_some() {
        for target in &targets {
            let end = Instant::now() + Duration::from_secs(amount);
            drive(&[*target], u64::MAX, Some(end), seed, &findings);
        }
    } else {
        drive(&targets, amount, None, seed, &findings);
    }
    let findings = findings
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    println!("{} findings in all", findings.len());
    std::process::exit(i32::from(!findings.is_empty()));
}

/// Writes the seeds of every target, each into a file.
fn write_seeds() {
    for target in Target::ALL {
        for (number, seed) in seeds::of(target).iter().enumerate() {
            keep(&format!("corpus/{}/{number}", target.name()), seed);
        }
    }
}

/// Tries `targets` on all workers, `runs` times or until `end`.
fn drive(
    targets: &[Target],
    runs: u64,
    end: Option<Instant>,
    seed: u64,
    findings: &Mutex<Vec<Finding>>,
) {
    let (start, done, left) = (Instant::now(), AtomicU64::new(0), AtomicU64::new(WORKERS));
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (done, left) = (&done, &left);
            scope.spawn(move || {
                let seed = seed.wrapping_mul(1_000_003) + worker + 1;
                work(targets, runs / WORKERS, end, seed, findings, done);
                left.fetch_sub(1, Ordering::Relaxed);
            });
        }
        scope.spawn(|| watch(&done, &left, findings));
    });
    let names: Vec<&str> = targets.iter().map(|target| target.name()).collect();
    println!(
        "{}: {} runs in {} s",
        names.join(", "),
        done.load(Ordering::Relaxed),
        start.elapsed().as_secs()
    );
}

fn work(
    targets: &[Target],
    runs: u64,
    end: Option<Instant>,
    seed: u64,
    findings: &Mutex<Vec<Finding>>,
    done: &AtomicU64,
) {
    let mut dice = Dice::new(seed);
    let seeds: Vec<(Target, Vec<String>)> = targets
        .iter()
        .map(|target| (*target, seeds::of(*target)))
        .collect();
    for case in 0..runs {
        if end.is_some_and(|end| Instant::now() >= end) {
            return;
        }
        if let Some((target, seeds)) =
            seeds.get(usize::try_from(case).unwrap_or(0) % seeds.len().max(1))
        {
            let input = mutate::mutate(seeds, &mut dice);
            if input.len() > LARGE_BYTES {
                // Nothing survives a stack overflow, so a large input is on disk before it is tried.
                keep(&format!("current-{}-{seed}", target.name()), &input);
            }
            if let Some(what) = trouble(*target, &input) {
                note(*target, &what, &input, findings);
            }
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
}

/// Returns what is wrong with `input`, if anything is.
fn trouble(target: Target, input: &str) -> Option<String> {
    let limit = SLOW * target.readers();
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(|| run(target, input)));
    let mut took = start.elapsed();
    match outcome {
        Err(payload) => {
            let said = payload.downcast_ref::<String>().cloned();
            let said = said.or_else(|| {
                payload
                    .downcast_ref::<&str>()
                    .map(|said| (*said).to_owned())
            });
            return Some(format!("panic: {}", said.unwrap_or_default()));
        }
        Ok(Some(broken)) => return Some(broken.to_owned()),
        Ok(None) => {}
    }
    // The machine is shared, so a slow run counts only when it is slow again and again.
    for _ in 0..4 {
        if took < limit {
            return None;
        }
        let start = busy();
        let _repeated = run(target, input);
        took = took.min(busy().saturating_sub(start));
    }
    (took >= limit).then(|| format!("slow: {} ms for {} bytes", took.as_millis(), input.len()))
}

/// Returns how long this thread has been running: its processor time, or else the time of day.
fn busy() -> Duration {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told
        .as_deref()
        .and_then(|told| told.split(' ').next())
        .and_then(|first| first.parse().ok());
    nanoseconds.map_or_else(|| START.elapsed(), Duration::from_nanos)
}

fn note(target: Target, what: &str, input: &str, findings: &Mutex<Vec<Finding>>) {
    let kind = |what: &str| what.split(':').next().unwrap_or("").to_owned();
    let is_full = |findings: &[Finding]| {
        let same =
            |finding: &&Finding| finding.target == target && kind(&finding.what) == kind(what);
        findings.iter().filter(same).count() >= FINDINGS_MAX
    };
    if findings.lock().is_ok_and(|findings| is_full(&findings)) {
        return;
    }
    let start = Instant::now();
    let is_same = |input: &str| {
        start.elapsed() < MINIMISE_TIME
            && trouble(target, input).is_some_and(|found| kind(&found) == kind(what))
    };
    let input = mutate::minimise(input, is_same);
    let what = trouble(target, &input).unwrap_or_else(|| what.to_owned());
    if let Ok(mut findings) = findings.lock() {
        report(findings.len(), target, &what, &input);
        findings.push(Finding { target, what });
    }
}

fn watch(done: &AtomicU64, left: &AtomicU64, findings: &Mutex<Vec<Finding>>) {
    let start = Instant::now();
    while left.load(Ordering::Relaxed) > 0 {
        std::thread::sleep(Duration::from_secs(1));
        let so_far = done.load(Ordering::Relaxed);
        let found = findings.try_lock().map_or(0, |findings| findings.len());
        eprintln!(
            "{so_far} runs, {found} findings, {} s",
            start.elapsed().as_secs()
        );
    }
}

fn report(number: usize, target: Target, what: &str, input: &str) {
    let file = keep(&format!("{}-{number}", target.name()), input);
    let shown: String = input.chars().take(160).collect();
    println!("{}: {what}: {shown:?} ({})", target.name(), file.display());
}

/// Writes an input to the folder of findings.
fn keep(name: &str, input: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../target/fuzz")
        .join(name);
    let folder = file.parent().unwrap_or(&file);
    if let Err(error) = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(&file, input))
    {
        eprintln!("error: cannot write {}: {error}", file.display());
    }
    file
}
