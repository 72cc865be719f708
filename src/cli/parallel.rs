//! Works on many things at once and hands the results on in order.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How many batches each worker may be ahead of the slowest one. Bounds what is held in memory.
const BATCHES_AHEAD: usize = 4;

/// How many jobs make a batch at most.
const MAX_BATCH: usize = 64;

/// What a batch should take: long beside handing it over, short beside the whole.
const BATCH_TIME: Duration = Duration::from_millis(1);

/// Runs `work` on every job, on `workers` threads, and calls `sink` with the results in the order of
/// the jobs. Each worker draws its jobs itself, as many at once as are quickly done; none are drawn
/// long before they are needed, so that memory does not grow with their number.
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
    // One permit for each batch that is drawn and not through the sink.
    let (permits, granted) = channel::<()>();
    for _ in 0..workers * BATCHES_AHEAD {
        let _ = permits.send(());
    }
    let source = Mutex::new(Source { granted, jobs: jobs.fuse(), batches: 0 });
    let (result_sender, results) = channel::<(usize, Vec<R>)>();
    thread::scope(|scope| {
        for _ in 0..workers {
            let (source, work, sender) = (&source, &work, result_sender.clone());
            scope.spawn(move || {
                let mut size = 1;
                while let Some((number, batch)) = source.lock().ok().and_then(|mut s| s.draw(size)) {
                    let start = Instant::now();
                    if sender.send((number, batch.into_iter().map(work).collect())).is_err() {
                        return;
                    }
                    size = if start.elapsed() < BATCH_TIME {
                        (size * 2).min(MAX_BATCH)
                    } else {
                        size.div_ceil(2)
                    };
                }
            });
        }
        drop(result_sender);
        let mut waiting = BTreeMap::new();
        let mut next = 0;
        for (number, results) in results {
            waiting.insert(number, results);
            while let Some(results) = waiting.remove(&next) {
                results.into_iter().try_for_each(&mut sink)?;
                next += 1;
                let _ = permits.send(());
            }
        }
        // Dropped here, before the scope waits for its threads: see the error path above.
        drop(permits);
        Ok(())
    })
}

/// Where the workers draw from.
struct Source<I> {
    granted: Receiver<()>,
    jobs: I,
    batches: usize,
}

impl<I: Iterator> Source<I> {
    /// The next jobs, as one batch, and its number. None when there are no more, or the sink has given
    /// up.
    fn draw(&mut self, size: usize) -> Option<(usize, Vec<I::Item>)> {
        self.granted.recv().ok()?;
        let batch: Vec<_> = self.jobs.by_ref().take(size).collect();
        self.batches += 1;
        (!batch.is_empty()).then_some((self.batches - 1, batch))
    }
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
