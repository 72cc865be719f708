//! Works on many things at once and hands the results on in order.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::thread;

/// How many jobs each worker may be ahead of the slowest one. Bounds what is held in memory.
const JOBS_AHEAD: usize = 4;

/// Runs `work` on every job, on `workers` threads, and calls `sink` with the results in the order of
/// the jobs. Each worker draws its next job itself, so that no thread only hands things on; jobs are
/// drawn as needed, so that memory does not grow with their number.
///
/// # Errors
/// The first error of `sink`; no further jobs are drawn then.
pub(super) fn in_order<J, R: Send, E>(
    workers: usize,
    jobs: impl Iterator<Item = J> + Send,
    work: impl Fn(J) -> R + Sync,
    mut sink: impl FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let workers = workers.max(1);
    // One permit for each job that is drawn and not through the sink.
    let (permits, granted) = channel::<()>();
    for _ in 0..workers * JOBS_AHEAD {
        let _ = permits.send(());
    }
    let source = Mutex::new((granted, jobs.enumerate()));
    let draw = || {
        let mut source = source.lock().ok()?;
        // Fails when the sink has given up.
        source.0.recv().ok()?;
        source.1.next()
    };
    let (result_sender, results) = channel::<(usize, R)>();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (draw, work, sender) = (&draw, &work, result_sender.clone());
            scope.spawn(move || {
                while let Some((number, job)) = draw() {
                    if sender.send((number, work(job))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(result_sender);
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for (number, result) in results {
            waiting.insert(number, result);
            while let Some(result) = waiting.remove(&next) {
                sink(result)?;
                next += 1;
                let _ = permits.send(());
            }
        }
        // Dropped here, before the scope waits for its threads: see the error path above.
        drop(permits);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_jobs() {
        let mut seen = Vec::new();
        let work = |n: u64| {
            thread::sleep(std::time::Duration::from_micros(200 * (n % 3)));
            n * 2
        };
        let outcome: Result<(), ()> = in_order(4, 0..500, work, |n| {
            seen.push(n);
            Ok(())
        });
        outcome.unwrap();
        assert_eq!(seen, (0..500).map(|n| n * 2).collect::<Vec<_>>());
    }

    #[test]
    fn no_more_jobs_are_drawn_after_an_error() {
        let drawn = std::sync::atomic::AtomicUsize::new(0);
        let jobs = (0..1_000_000).inspect(|_| {
            drawn.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        });
        let outcome = in_order(2, jobs, |n| n, |n| if n == 5 { Err("full") } else { Ok(()) });
        assert_eq!(outcome, Err("full"));
        assert!(drawn.into_inner() < 1000);
    }
}
