//! The frontier as a picture: mean wait against similarity ratio, a colour a speed.

use anyhow::Context as _;
use plotters::prelude::*;

use super::frontier::Point;

/// Colours that people who see colours differently tell apart (Okabe and Ito, 2008), without their yellow, which is
/// hardly seen on white.
pub(super) const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];
const SIZE: (u32, u32) = (860, 540);
const GRID: RGBColor = RGBColor(226, 226, 226);
const TEXT: RGBColor = RGBColor(60, 60, 60);
const FONT: (&str, i32) = ("sans-serif", 15);
/// Of points that another beats, next to those of the frontier.
const FADED: f64 = 0.35;

/// What was played at one speed: each combination's point, and whether it is on the frontier.
#[derive(Debug, Clone)]
pub(super) struct Cloud {
    pub(super) speed: f64,
    pub(super) points: Vec<(Point, bool)>,
}

/// Draws clouds as SVG, each in the colour of its place in `COLOURS`.
pub(super) fn draw(title: &str, clouds: &[Cloud]) -> anyhow::Result<String> {
    let all: Vec<Point> =
        clouds.iter().flat_map(|cloud| cloud.points.iter().map(|(point, _)| *point)).collect();
    let longest = all.iter().map(|point| point.wait_seconds).fold(0.0, f64::max);
    let highest = all.iter().map(|point| point.ratio).fold(0.0, f64::max);
    let lowest = all.iter().map(|point| point.ratio).fold(highest, f64::min);
    let room = ((highest - lowest) * 0.08).max(0.005);
    let (waits, ratios) = (0.0..(longest * 1.05).max(0.01), (lowest - room).max(0.0)..highest + room);

    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        area.fill(&WHITE).context("cannot fill the plot")?;
        let mut chart = ChartBuilder::on(&area)
            .margin(12)
            .caption(title, FONT.into_font().color(&TEXT))
            .x_label_area_size(46)
            .y_label_area_size(64)
            .build_cartesian_2d(waits, ratios)
            .context("cannot lay out the plot")?;
        chart
            .configure_mesh()
            .bold_line_style(GRID)
            .light_line_style(TRANSPARENT)
            .axis_style(TEXT)
            .label_style(FONT.into_font().color(&TEXT))
            .x_desc("mean wait of the matched, seconds")
            .y_desc("similarity ratio: reached / best possible")
            .x_label_formatter(&|x| format!("{x:.2}"))
            .y_label_formatter(&|y| format!("{y:.2}"))
            .draw()
            .context("cannot draw the axes")?;
        for (cloud, colour) in clouds.iter().zip(COLOURS) {
            let place = |point: &Point| (point.wait_seconds, point.ratio);
            let beaten = cloud.points.iter().filter(|(_, is_on)| !is_on);
            chart
                .draw_series(
                    beaten.map(|(point, _)| Circle::new(place(point), 3, colour.mix(FADED).filled())),
                )
                .context("cannot draw points")?;
            let mut frontier: Vec<_> =
                cloud.points.iter().filter(|(_, is_on)| *is_on).map(|(point, _)| place(point)).collect();
            frontier.sort_by(|a, b| a.0.total_cmp(&b.0));
            let marks = frontier.clone().into_iter().map(|at| Circle::new(at, 4, colour.filled()));
            chart.draw_series(marks).context("cannot draw points")?;
            chart
                .draw_series(LineSeries::new(frontier, colour.stroke_width(2)))
                .context("cannot draw a frontier")?
                .label(format!("speed {}", cloud.speed))
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::LowerRight)
            .margin(14)
            .background_style(WHITE.mix(0.85))
            .border_style(GRID)
            .label_font(FONT.into_font().color(&TEXT))
            .draw()
            .context("cannot draw the legend")?;
        area.present().context("cannot finish the plot")?;
    }
    Ok(svg)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_every_frontier_and_both_units_are_drawn() {
        let point = |wait_seconds, ratio| Point { wait_seconds, ratio };
        let points = vec![(point(0.5, 0.7), true), (point(1.0, 0.8), true), (point(1.0, 0.6), false)];
        let clouds = [1.0, 10.0].map(|speed| Cloud { speed, points: points.clone() });
        let svg = draw("a trace", &clouds).unwrap();
        assert_eq!(svg.matches("<circle").count(), 6);
        for said in
            ["a trace", "mean wait of the matched, seconds", "similarity ratio", "speed 1\n", "speed 10\n"]
        {
            assert!(svg.contains(said), "{said} is not in {svg}");
        }
        let lines = |clouds: &[Cloud]| draw("", clouds).unwrap().matches("<polyline").count();
        // Two frontiers and the legend's two strokes.
        assert_eq!(lines(&clouds) - lines(&[]), 4);
    }
}
