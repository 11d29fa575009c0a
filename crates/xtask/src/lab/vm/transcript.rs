//! What a guest sends through its serial port: `#up`, then for each command
//! `#ran CODE SECONDS STDOUT-BYTES STDERR-BYTES`, the bytes and a line feed, then `#end`.

/// A command that ended in the guest.
#[derive(Debug, PartialEq)]
pub struct Ran {
    pub code: i32,
    /// Seconds that it took.
    pub seconds: u32,
    pub stdout: String,
    pub stderr: String,
}

/// What has arrived so far.
#[derive(Debug, Default, PartialEq)]
pub struct Transcript {
    /// The guest's first process runs.
    pub up: bool,
    /// Commands whose output is complete.
    pub ran: Vec<Ran>,
    /// All commands have run.
    pub ended: bool,
}

impl Transcript {
    /// Reads as far as the bytes go; an entry that is cut short is left out.
    pub fn parse(bytes: &[u8]) -> Self {
        let mut transcript = Self::default();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let (line, after) = rest.split_at(end);
            rest = after.get(1..).unwrap_or_default();
            let line = String::from_utf8_lossy(line);
            match line.split_whitespace().collect::<Vec<_>>().as_slice() {
                ["#up"] => transcript.up = true,
                ["#end"] => transcript.ended = true,
                ["#ran", code, seconds, out, err] => {
                    let Some((ran, after)) = entry(code, seconds, out, err, rest) else {
                        break;
                    };
                    transcript.ran.push(ran);
                    rest = after;
                }
                _ => {}
            }
        }
        transcript
    }
}

fn entry<'a>(code: &str, seconds: &str, out: &str, err: &str, rest: &'a [u8]) -> Option<(Ran, &'a [u8])> {
    let (stdout, rest) = rest.split_at_checked(out.parse().ok()?)?;
    let (stderr, rest) = rest.split_at_checked(err.parse().ok()?)?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let ran = Ran { code: code.parse().ok()?, seconds: seconds.parse().ok()?, stdout: text(stdout), stderr: text(stderr) };
    Some((ran, rest))
}

#[cfg(test)]
mod tests {
    use super::{Ran, Transcript};

    const WHOLE: &[u8] = b"#up\n#ran 0 1 6 0\n#end\nx\n\n#ran 2 30 0 4\noops\n#end\n";

    #[test]
    fn output_is_taken_by_length_whatever_it_holds() {
        let ran = |code, seconds, stdout: &str, stderr: &str| Ran {
            code,
            seconds,
            stdout: stdout.to_owned(),
            stderr: stderr.to_owned(),
        };
        let expected = Transcript { up: true, ran: vec![ran(0, 1, "#end\nx", ""), ran(2, 30, "", "oops")], ended: true };
        assert_eq!(Transcript::parse(WHOLE), expected);
    }

    #[test]
    fn a_cut_anywhere_gives_only_what_is_whole() {
        for cut in 0..WHOLE.len() {
            let part = Transcript::parse(&WHOLE[..cut]);
            assert!(!part.ended, "cut at {cut}");
            assert!(part.ran.len() <= 2 && part.ran.iter().all(|ran| ran.stdout.len() + ran.stderr.len() >= 4));
            assert_eq!(part.up, cut >= 4);
        }
    }
}
