//! Every exact decision against whole numbers and another theorem. No tolerance in this file.

use jostle_oracle::exact;

#[test]
fn kernels_agree_with_the_oracle_in_every_family() {
    let summary = exact::run(200_000, 1);
    println!("{summary}");
    assert_eq!(summary.wrong(), 0, "{summary}");
    for s in &summary.families {
        // An oracle that always gives one answer tests nothing.
        let apart = s.cases - s.touching;
        assert!(s.touching * 50 > s.cases && apart * 50 > s.cases, "lopsided:\n{summary}");
    }
}
