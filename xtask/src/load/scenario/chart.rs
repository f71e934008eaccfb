//! Plots as SVG, to stand in a page.

use anyhow::Context as _;
use plotters::prelude::*;

/// Colours that people who see colours differently tell apart (Okabe and Ito, 2008).
pub(super) const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
];
const SIZE: (u32, u32) = (640, 240);
const GRID: RGBColor = RGBColor(226, 226, 226);
const TEXT: RGBColor = RGBColor(80, 80, 80);
const FONT: (&str, i32) = ("sans-serif", 13);

/// Lines over seconds. Each has the colour of its place in `COLOURS`.
pub(super) fn lines(unit: &str, seconds: f64, lines: &[&[(f64, f64)]]) -> anyhow::Result<String> {
    let highest = lines.iter().flat_map(|line| line.iter().map(|(_, value)| *value)).fold(0.0, f64::max);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d(0.0..seconds.max(1.0), 0.0..above(highest))
            .context("cannot lay out a plot")?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(GRID)
            .label_style(FONT.into_font().color(&TEXT))
            .x_desc("seconds since the first request")
            .y_desc(unit)
            .y_labels(5)
            .x_label_formatter(&|x| short(*x))
            .y_label_formatter(&|y| short(*y))
            .draw()
            .context("cannot draw the axes")?;
        for (line, colour) in lines.iter().zip(COLOURS) {
            chart
                .draw_series(LineSeries::new(line.iter().copied(), colour.stroke_width(2)))
                .context("cannot draw a line")?;
        }
        area.present().context("cannot finish a plot")?;
    }
    Ok(svg)
}

/// Bars side by side, each with its name below.
pub(super) fn bars(unit: &str, what: &str, bars: &[(String, f64)]) -> anyhow::Result<String> {
    let highest = bars.iter().map(|(_, value)| *value).fold(0.0, f64::max);
    let count = bars.len().max(1);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        let mut chart = ChartBuilder::on(&area)
            .margin(8)
            .x_label_area_size(36)
            .y_label_area_size(52)
            .build_cartesian_2d((0..count).into_segmented(), 0.0..above(highest))
            .context("cannot lay out a plot")?;
        let name = |segment: &SegmentValue<usize>| match segment {
            SegmentValue::CenterOf(at) => bars.get(*at).map_or(String::new(), |(name, _)| name.clone()),
            SegmentValue::Exact(_) | SegmentValue::Last => String::new(),
        };
        chart
            .configure_mesh()
            .disable_x_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(GRID)
            .label_style(FONT.into_font().color(&TEXT))
            .x_desc(what)
            .y_desc(unit)
            .x_labels(count)
            .y_labels(5)
            .x_label_formatter(&name)
            .y_label_formatter(&|y| short(*y))
            .draw()
            .context("cannot draw the axes")?;
        let bar = |(at, (_, value)): (usize, &(String, f64))| {
            let corners = [(SegmentValue::Exact(at), 0.0), (SegmentValue::Exact(at + 1), *value)];
            let mut bar = Rectangle::new(corners, COLOURS[0].filled());
            bar.set_margin(0, 0, 2, 2);
            bar
        };
        chart.draw_series(bars.iter().enumerate().map(bar)).context("cannot draw the bars")?;
        area.present().context("cannot finish a plot")?;
    }
    Ok(svg)
}

/// A little room above the highest value.
fn above(highest: f64) -> f64 {
    if highest > 0.0 { highest * 1.08 } else { 1.0 }
}

/// A number without the decimals that say nothing.
pub(super) fn short(value: f64) -> String {
    let decimals = match value.abs() {
        100.0.. => return format!("{value:.0}"),
        10.0.. => 1,
        1.0.. => 2,
        _ => 3,
    };
    format!("{value:.decimals$}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_drawn() {
        let one = [(0.0, 0.0), (1.0, 5.0), (2.0, 3.0)];
        let svg = lines("a second", 2.0, &[&one, &one]).unwrap();
        assert_eq!(
            svg.matches("<polyline").count()
                - lines("a second", 2.0, &[]).unwrap().matches("<polyline").count(),
            2
        );
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
        assert!(svg.contains("seconds since the first request"));
    }

    #[test]
    fn every_bar_has_its_name() {
        let svg = bars("people", "wait", &[("up to 1 s".to_owned(), 3.0), ("more".to_owned(), 0.0)]).unwrap();
        assert!(svg.contains("up to 1 s") && svg.contains("more"));
        assert!(bars("people", "wait", &[]).is_ok(), "nothing is a plot too");
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0, 0.25, 1_000.0, 1.0 / 3.0].map(short), ["0", "0.25", "1000", "0.333"]);
    }
}
