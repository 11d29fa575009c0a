//! What was not measured by a plan of ours: tables, curves, and all else as it is.

use super::page::Page;
use super::{figures, loaded, matrix};

pub fn section(page: &mut Page) {
    let views = &page.report.matrices;
    let of_twins = |name: &str| name.strip_suffix("_dram").is_some_and(|name| views.iter().any(|view| view.name == name));
    views.iter().filter(|view| !of_twins(&view.name)).for_each(|view| matrix::matrix_table(page, view));
    loaded::section(page);
    twins(page);
    figures::rest(page);
}

/// Of reads the bytes of the loops and of the memory controller are the same figure: it is shown once.
fn twins(page: &mut Page) {
    let unseen = page.unseen().into_iter().map(|(id, _)| id).collect::<Vec<_>>();
    for (id, metric) in page.unseen() {
        let name = metric.name.strip_suffix("_dram");
        let Some(own) =
            name.and_then(|name| page.report.metrics.iter().position(|own| own.name == name && own.labels == metric.labels))
        else {
            continue;
        };
        page.show(if unseen.contains(&own) { own } else { id });
    }
}
