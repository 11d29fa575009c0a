//! What fuzzing begins from must be what it is about: records of this version.

use memgauge_model::Record;

#[test]
fn the_stored_records_are_records_with_figures() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/document");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 4);
    for file in files {
        let record: Record =
            serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        assert!(!memgauge_analysis::analyze(&record).metrics.is_empty(), "{}", file.display());
    }
}
