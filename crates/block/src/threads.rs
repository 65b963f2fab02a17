//! Work on many items by several threads.

use crate::registry;
use std::{
    panic::resume_unwind,
    sync::{Mutex, PoisonError},
    thread,
};

/// Returns `f(item)` for all items, in their order, computed by `threads` threads including the
/// caller's. Each thread takes the next item when it has finished one.
///
/// If items take different times, pass many. If the system refuses a thread, the others do its
/// work. LOCAL: no result of `f` may depend on the thread that runs it.
pub fn abreast<T: Send, R: Send>(threads: usize, items: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    let workers = threads.min(items.len());
    if workers <= 1 {
        return items.into_iter().map(f).collect();
    }
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let here = registry::here();
    let work = || {
        let _here = here.enter();
        let mut done = vec![];
        while let Some((i, item)) = next() {
            done.push((i, f(item)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        let spawn = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let others: Vec<_> = (1..workers).filter_map(spawn).collect();
        let mut done = work();
        for other in others {
            done.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(i, _)| *i);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::abreast;
    use std::{thread::sleep, time::Duration};

    #[test]
    fn results_keep_the_order_of_items() {
        // The thread that takes the second item is busy for a while.
        let slow = |i: usize| {
            sleep(Duration::from_millis(if i < 2 { 5 + 20 * i as u64 } else { 0 }));
            i * i
        };
        for threads in [0, 1, 2, 3, 40] {
            for len in [0, 1, 2, 17] {
                let items: Vec<usize> = (0..len).collect();
                let squares: Vec<usize> = items.iter().map(|i| i * i).collect();
                assert_eq!(abreast(threads, items, slow), squares, "{threads} threads, {len} items");
            }
        }
    }

    #[test]
    #[should_panic(expected = "the third")]
    fn a_panic_is_the_callers() {
        abreast(2, vec![1, 2, 3], |i| assert!(i != 3, "the third"));
    }
}
