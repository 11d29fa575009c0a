use super::options::ROWS;
use super::*;

fn asked(words: &str) -> Result<Asked, Wrong> {
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    let files = |path: &str| match path {
        "delays" => Ok("0\n200\n".to_owned()),
        "bad" => Ok("0\nx\n".to_owned()),
        "loads" => Ok("0-3 W5 seq 40m dram 1 300\n6 W5 seq 40m dram 1 300\n".to_owned()),
        "file" => Ok("1 R seq 40m pmem /mnt\n".to_owned()),
        "pattern" => Ok("0f".repeat(64)),
        _ => Err("no such file or directory".to_owned()),
    };
    read(&words, &files)
}

fn line(words: &str) -> String {
    match asked(words) {
        Err(Wrong::Refused(refusal)) => refusal.to_string(),
        Err(Wrong::Invalid { word, usage }) => format!("Invalid Argument:{word}{}", if usage { " usage" } else { "" }),
        Ok(_) => "taken".to_owned(),
    }
}

#[test]
fn options_stand_before_or_behind_the_mode_attached_or_not() {
    for words in ["--loaded_latency -c0 -k1-15 -t2", "-c 0 -k1-15 -loaded_latency -t 2", "-t2 -k 1-15 --loaded_latency -c0"] {
        let asked = asked(words).unwrap();
        assert_eq!((asked.mode, asked.request.cpu), (Some(Mode::Loaded), Some(0)), "{words}");
        assert_eq!(asked.request.load_cpus.unwrap().to_string(), "1-15");
        assert_eq!((asked.request.time_ns, asked.echo.join(" ")), (Some(2_000_000_000), words.to_owned()));
    }
}

#[test]
fn what_is_ours_is_not_echoed() {
    let asked =
        asked("--json a.json -X --simulate=icelake-2s --peak_injection_bandwidth --seed 7 --quiet --dry-run --out d").unwrap();
    assert_eq!(asked.echo, ["-X", "--peak_injection_bandwidth"]);
    let ours = &asked.ours;
    assert_eq!(
        (ours.seed, ours.quiet, ours.dry_run, ours.simulate.is_some(), ours.out.is_some()),
        (Some(7), true, true, true, true)
    );
}

#[test]
fn each_slip_is_one_line() {
    for (words, expected) in [
        ("--help", "Invalid Argument:--help usage"),
        ("--version", "Invalid Argument:--version"),
        ("-y", "Invalid Argument:-y"),
        ("loaded", "Invalid Argument:loaded"),
        ("-", "Invalid Argument:-"),
        ("", "taken"),
        ("--idle_latency -r5", "Invalid Argument:-r5"),
        ("--idle_latency -b", "-b: needs a value; write <n>[k|m|g] behind it"),
        ("--idle_latency -b -c0", "-b: needs a value; write <n>[k|m|g] behind it"),
        ("--idle_latency -b1x", "-b 1x: not a size: write KiB, or a number with k, m or g; such as -b200m"),
        ("--idle_latency --c2c_latency", "--c2c_latency: beside --idle_latency; name one mode"),
        ("--idle_latency -c0 -c1", "-c: stands there twice; write it once"),
        ("--loaded_latency -R -W5", "-R: can't stand beside -W; leave one of them out"),
        ("--loaded_latency -k1 -m2", "-k: can't stand beside -m; leave one of them out"),
        ("--idle_latency -j0 -i1", "-j: can't stand beside -i; leave one of them out"),
        ("--idle_latency -t1 -x1", "-t: can't stand beside -x; leave one of them out"),
        ("--loaded_latency -m3", "-m 3: CPU 0 is for the latency thread; leave it out of the mask, or add -T"),
        ("--peak_injection_bandwidth -m3 -T", "taken"),
        ("--loaded_latency -m3 -T", "taken"),
        ("--idle_latency -fx", "-f x: not a decimal number; such as -f3"),
        ("--loaded_latency -x1 -T", "-T: can't stand beside -x; leave one of them out"),
        ("--loaded_latency -mg", "-m g: not a mask of hexadecimal digits; such as -mfffe"),
        ("--loaded_latency -k9-1", "-k 9-1: not a list of CPUs such as 0-3,8; such as -k1-15"),
        ("--loaded_latency -W4", "-W 4: no such traffic; use 2, 3, 5 to 12 or 19"),
        ("--loaded_latency -W21", "-W 21: two address streams stand in a -o file alone; use 2, 3, 5 to 12 or 19"),
        ("--loaded_latency -gnone", "-g none: no such file or directory; name a file that can be read"),
        ("--loaded_latency -gbad", "-g bad: line 2; not a decimal number: a delay in core cycles is expected"),
        ("--loaded_latency -ofile", "-o file: pmem /mnt: loads have no memory in files; write dram and a node"),
        ("--loaded_latency -n64", "-n: is the block of random loads, and these go in sequence; add -U, or leave it out"),
        ("--idle_latency -t0", "-t 0: not a number from 1 on; such as -t2"),
        ("-b200m", "-b: has a meaning with a mode only; name one, such as --loaded_latency"),
        (
            "--idle_latency -k1",
            "-k: has no meaning for --idle_latency; it has for --bandwidth_matrix, --peak_injection_bandwidth, --max_bandwidth, --loaded_latency",
        ),
        ("--idle_latency --json", "--json: needs a value; write one after it"),
        ("--idle_latency --seed x", "--seed x: not a decimal number; such as 7"),
        ("--bandwidth_matrix -l256", "-l 256: loads use every line; leave it out, or write -l64"),
        ("--c2c_latency -c1", "-c: is one of a pair whose writer is not named; add -w and its CPU"),
        ("--idle_latency -Dx", "-D x: not a decimal number; such as -D4096"),
        ("--idle_latency -a -c1", "-a: can't stand beside -c; leave one of them out"),
    ] {
        assert_eq!(line(words), expected, "{words}");
    }
}

/// A value that each letter takes.
fn sample(letter: char) -> &'static str {
    match letter {
        'b' => "100m",
        'D' => "4096",
        'g' => "delays",
        'j' | 'K' => "0",
        'k' => "1",
        'l' => "64",
        'm' => "2",
        'M' => "pattern",
        'o' => "loads",
        'p' => "1,2",
        'W' => "5",
        'J' => "/tmp",
        _ => "1",
    }
}

#[test]
fn each_letter_is_taken_where_it_means_something_and_refused_elsewhere() {
    for row in ROWS {
        for mode in Mode::ALL {
            let value = if row.value.is_empty() { "" } else { sample(row.letter) };
            let writer = if matches!((row.letter, mode), ('c' | 'S', Mode::C2c)) { " -w3" } else { "" };
            let beside = if matches!((row.letter, mode), ('n', Mode::Loaded)) { " -U" } else { writer };
            let answer = line(&format!("--{} -{}{value}{beside}", mode.name(), row.letter));
            if row.letter == 'P' && mode == Mode::Loaded {
                assert_eq!(answer, "-P: no load stores to files; flush stores to any memory with -Q");
                continue;
            }
            let known = row.meaning.contains(&mode) || row.harmless.contains(&mode);
            match known {
                false => assert!(answer.contains("has no meaning for"), "-{} {mode:?}: {answer}", row.letter),
                true => assert_eq!(answer, "taken", "-{} {mode:?}", row.letter),
            }
        }
        assert_eq!(line(&format!("-{}", row.letter)) == "taken", row.whole_run && row.value.is_empty(), "-{}", row.letter);
    }
}
