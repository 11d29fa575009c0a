//! Delays of a loaded curve: `0,2,8`, `mlc` or `auto`.

use super::whole::whole;
use super::{BadValue, list_parts};
use memgauge_model::Delays;

/// Beyond this many core cycles between bursts nothing is a load any more.
const MOST: u32 = 1_000_000;

/// A list, or a rule that makes one.
pub fn delays(text: &str) -> Result<Delays, BadValue> {
    match text {
        "mlc" => Ok(Delays::Mlc),
        "auto" => Ok(Delays::Auto),
        list => Ok(Delays::List(list_parts(list, "delays such as 0,100,1000, or mlc, or auto", delay)?)),
    }
}

/// One delay, core cycles.
pub fn delay(text: &str) -> Result<u32, BadValue> {
    match whole::<u32>(text) {
        Ok(cycles @ 0..=MOST) => Ok(cycles),
        Ok(_) => Err(BadValue::new(format!("more than {MOST} core cycles between bursts"), format!("use {MOST} or less"))),
        Err(bad) => Err(BadValue::new(bad.problem, "write core cycles between bursts, such as 100")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_rules() {
        assert_eq!(delays("0,2,8"), Ok(Delays::List(vec![0, 2, 8])));
        assert_eq!(delays("mlc"), Ok(Delays::Mlc));
        assert_eq!(delays("auto"), Ok(Delays::Auto));
        for text in ["", "0,", ",", "0,0", "a", "-1", "0;2", "1000001", "MLC", "1.5"] {
            assert!(delays(text).is_err(), "{text:?} was taken");
        }
        assert_eq!(delays("0,x").unwrap_err().problem, "'x': not a whole number");
    }
}
