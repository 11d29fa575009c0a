//! Work of which two pieces go on at a time: CI has two CPUs, and few pieces keep both busy.

use std::panic::resume_unwind;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

const LANES: usize = 2;

/// Does `work` for each item, begun in their order; what came of it, as each lane ended.
pub fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let lane = || {
        let take = || items.get(next.fetch_add(1, Ordering::Relaxed));
        std::iter::from_fn(take).map(&work).collect::<Vec<R>>()
    };
    std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..LANES).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().flat_map(|lane| lane.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Does `step`, and behind it, with the CPU time that it leaves, these commands. They only prepare: one that fails will fail again, and be
/// told, where what it makes is needed.
pub fn with_behind<T>(commands: Vec<Command>, step: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        scope.spawn(|| commands.iter().for_each(|command| drop(last_in_line(command).status())));
        step()
    })
}

fn last_in_line(command: &Command) -> Command {
    // Below every nice value: an emulator that spins for a CPU that a compiler has crawls.
    let mut idle = Command::new("chrt");
    idle.args(["--idle", "0"]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => idle.env(name, value),
            None => idle.env_remove(name),
        };
    }
    idle.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    idle
}

#[cfg(test)]
mod tests {
    use super::{each, with_behind};
    use std::process::Command;
    use std::sync::Barrier;

    #[test]
    fn every_item_is_worked_on_once_and_two_at_a_time() {
        // Neither lane gets past it alone.
        let both = Barrier::new(2);
        let mut done = each(&[1, 2, 3, 4], |item| {
            both.wait();
            item * 10
        });
        done.sort_unstable();
        assert_eq!(done, [10, 20, 30, 40]);
        assert!(each(&[] as &[u8], |item| *item).is_empty());
    }

    #[test]
    fn what_goes_on_behind_is_done_when_the_step_is_left() {
        let file = std::env::temp_dir().join(format!("behind-{}", std::process::id()));
        let mut touch = Command::new("sh");
        touch.args(["-c", "sleep 0.1; [ \"$1\" = \"$WANTED\" ] && : > \"$1\"", "sh"]).arg(&file).env("WANTED", &file);
        let answer = with_behind(vec![Command::new("false"), touch], || 7);
        assert!(answer == 7 && file.exists());
        std::fs::remove_file(&file).unwrap();
    }
}
