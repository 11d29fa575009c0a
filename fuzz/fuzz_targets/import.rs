//! Output of the Memory Latency Checker, or what is given out as such: what is read is a sound document, which every format can render.
#![no_main]

use libfuzzer_sys::fuzz_target;
use memgauge_model::Report;
use memgauge_render::{Format, Style, mlc, render};
use std::collections::BTreeSet;

fuzz_target!(|bytes: &[u8]| {
    let Ok(report) = memgauge_import::mlc::read(bytes) else { return };
    let names: BTreeSet<_> = report.metrics.iter().map(|metric| (&metric.name, &metric.labels)).collect();
    assert_eq!(names.len(), report.metrics.len(), "name and labels are unique");
    assert!(report.metrics.iter().all(|metric| metric.value.is_finite()));
    for format in [Format::Text, Format::Json, Format::Csv, Format::VcCsv, Format::VcJson] {
        let _text = render(&report, format, &Style::default());
    }
    let style = mlc::Style { args: report.command.argv.clone(), ..mlc::Style::default() };
    let sections: [fn(&Report, &mlc::Style) -> String; 8] =
        [mlc::idle, mlc::latency_matrix, mlc::peak, mlc::max, mlc::bandwidth_matrix, mlc::loaded, mlc::c2c, mlc::c2c_pair];
    let _text = sections.iter().map(|section| section(&report, &style)).collect::<String>();
});
