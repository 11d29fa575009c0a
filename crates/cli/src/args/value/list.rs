//! CPU lists, as the kernel writes them, or `none`.

use super::BadValue;
use memgauge_model::{CpuList, ListError};

/// `0-3,8`, `0-31:2/4`; `none` is the empty list.
pub fn cpu_list(text: &str) -> Result<CpuList, BadValue> {
    if text == "none" {
        return Ok(CpuList::default());
    }
    text.parse::<CpuList>().map_err(|error| {
        let remedy = match &error {
            ListError::Backwards(_) => "write the lower number first",
            _ => "write CPUs as the kernel does, such as 0-3,8 or 0-31:2/4, or none",
        };
        BadValue::new(error.to_string(), remedy)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_lists_and_none() {
        assert_eq!(cpu_list("0-2,8").unwrap().to_string(), "0-2,8");
        assert_eq!(cpu_list("none"), Ok(CpuList::default()));
        for text in ["", "None", "all", "0,,1", "3-1", "-1"] {
            assert!(cpu_list(text).is_err(), "{text:?} was taken");
        }
    }
}
