//! Records and documents from elsewhere: what can be read as one is analysed and rendered, and none of that falls over.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memgauge_model::{Record, Report};
use memgauge_render::{Format, Style, render};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(record) = serde_json::from_slice::<Record>(bytes) {
        show(&memgauge_analysis::analyze(&record));
    }
    if let Ok(report) = serde_json::from_slice::<Report>(bytes) {
        show(&report);
    }
});

fn show(report: &Report) {
    for format in [Format::Text, Format::Json, Format::Csv] {
        let _text = render(report, format, &Style::default());
    }
}
