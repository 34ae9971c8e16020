import { CustomChart } from "echarts/charts";
import { DataZoomInsideComponent, GridComponent } from "echarts/components";
import { type ECharts, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { clockText, dateText, weekdayDateText } from "../time/format";
import { DAY, HOUR, type Instant } from "../time/instant";
import { type Range, type State, STATES, type Segment, type Tick, segmentsOf, ticksOf } from "./model";
import type { Row } from "./rows";
import { AXIS_HEIGHT } from "./sizes";

use([CustomChart, GridComponent, DataZoomInsideComponent, CanvasRenderer]);


const TICK_WIDTH = 90;

export type Colours = Readonly<Record<State | "line" | "text" | "muted" | "now" | "past", string>>;

/** What the chart draws. */
export interface Picture {
  readonly rows: readonly Row[];
  /** How far the rows are scrolled up. */
  readonly offset: number;
  readonly range: Range;
  /** The first and the last instant to which it can be moved. */
  readonly limits: Range;
  readonly now: Instant;
  readonly zone: string;
  readonly colours: Colours;
}

interface Place {
  readonly left: number;
  readonly width: number;
  readonly perPixel: number;
}

type Shape = Record<string, unknown>;

/** The calendar on a canvas. ECharts moves and zooms it; this class says what a row looks like. */
export class CalendarCanvas {
  private readonly chart: ECharts;
  private picture: Picture | null = null;

  constructor(element: HTMLElement, onRange: (range: Range) => void) {
    this.chart = init(element, null, { renderer: "canvas" });
    this.chart.on("dataZoom", () => {
      const range = this.visible();
      if (range) onRange(range);
    });
  }

  draw(picture: Picture): void {
    const first = this.picture === null;
    this.picture = picture;
    const visible = this.visible();
    const moved = !visible || visible.start !== picture.range.start || visible.end !== picture.range.end;
    this.chart.setOption(
      {
        ...(first ? FRAME : {}),
        xAxis: { type: "value", position: "top", ...this.axis(picture) },
        ...(first || moved ? { dataZoom: [zoom(picture, first)] } : {}),
        series: [
          {
            id: "rows",
            type: "custom",
            clip: true,
            silent: true,
            encode: { x: 0, y: 1 },
            data: picture.rows.map((_, index) => [picture.limits.start, index]),
            renderItem: (params: { dataIndex: number }) => this.row(params.dataIndex),
          },
          {
            id: "now",
            type: "custom",
            clip: true,
            silent: true,
            z: 5,
            encode: { x: 0, y: 1 },
            data: [[picture.now, 0]],
            renderItem: () => this.nowLine(),
          },
        ],
      },
      { lazyUpdate: false },
    );
  }

  resize(): void {
    this.chart.resize();
  }

  dispose(): void {
    this.chart.dispose();
  }

  /** Return the instant at a pixel from the left of the chart. */
  instantAt(x: number): Instant {
    const { left, perPixel } = this.place();
    return (this.visible()?.start ?? 0) + (x - left) * perPixel;
  }

  /** Return the pixel of an instant. */
  pixelOf(at: Instant): number {
    const { left, perPixel } = this.place();
    return left + (at - (this.visible()?.start ?? 0)) / perPixel;
  }

  get perPixel(): number {
    return this.place().perPixel;
  }

  private visible(): Range | null {
    const option = this.chart.getOption() as { dataZoom?: Array<{ startValue?: number; endValue?: number }> } | undefined;
    const found = option?.dataZoom?.[0];
    return found?.startValue === undefined || found.endValue === undefined
      ? null
      : { start: found.startValue, end: found.endValue };
  }

  private place(): Place {
    const width = this.chart.getWidth();
    const range = this.visible() ?? { start: 0, end: DAY };
    return { left: 0, width, perPixel: (range.end - range.start) / Math.max(1, width) };
  }

  private axis(picture: Picture): Shape {
    const { range, limits, zone, colours } = picture;
    const length = range.end - range.start;
    const most = Math.max(2, Math.floor(this.chart.getWidth() / TICK_WIDTH));
    // With room on both sides, so that moving needs no new labels.
    const around = { start: Math.max(limits.start, range.start - length), end: Math.min(limits.end, range.end + length) };
    const ticks = ticksOf(around, zone, most * Math.max(1, (around.end - around.start) / length));
    const byTime = new Map(ticks.map((each) => [each.at, each]));
    const values = ticks.map((each) => each.at);
    return {
      min: limits.start,
      max: limits.end,
      z: 3,
      axisLabel: {
        customValues: values,
        hideOverlap: true,
        color: colours.muted,
        fontSize: 12,
        formatter: (at: number) => labelOf(byTime.get(at), zone),
      },
      axisTick: { customValues: values, lineStyle: { color: colours.line } },
      splitLine: { show: true, customValues: values, lineStyle: { color: colours.line } },
      axisLine: { show: true, lineStyle: { color: colours.line } },
    };
  }

  private row(index: number): Shape | null {
    const picture = this.picture;
    const row = picture?.rows[index];
    if (!picture || !row) return null;
    const range = this.visible() ?? picture.range;
    const { left, perPixel } = this.place();
    const top = AXIS_HEIGHT + row.top - picture.offset;
    const segments = segmentsOf(row.stretches, range, perPixel);
    const children = STATES.flatMap((_, state) => {
      const points = outline(segments, state, left, top, row.height);
      return points.length
        ? [{ type: "polygon", shape: { points }, style: { fill: picture.colours[STATES[state]!] }, silent: true }]
        : [];
    });
    return { type: "group", silent: true, children };
  }

  private nowLine(): Shape | null {
    const picture = this.picture;
    if (!picture) return null;
    const x = this.pixelOf(picture.now);
    const height = this.chart.getHeight();
    if (x < 0) return null;
    return {
      type: "group",
      silent: true,
      children: [
        { type: "rect", shape: { x: 0, y: AXIS_HEIGHT, width: x, height }, style: { fill: picture.colours.past } },
        {
          type: "line",
          shape: { x1: x, y1: AXIS_HEIGHT - 6, x2: x, y2: height },
          style: { stroke: picture.colours.now, lineWidth: 2 },
        },
      ],
    };
  }
}

const FRAME: Shape = {
  animation: false,
  grid: { left: 0, right: 0, top: AXIS_HEIGHT, bottom: 0 },
  yAxis: { type: "value", min: 0, max: 1, show: false },
};

function zoom({ range }: Picture, first: boolean): Shape {
  const place = { id: "zoom", startValue: range.start, endValue: range.end };
  if (!first) return place;
  return {
    ...place,
    type: "inside",
    xAxisIndex: 0,
    filterMode: "none",
    minValueSpan: 2 * HOUR,
    maxValueSpan: 124 * DAY,
    zoomOnMouseWheel: "ctrl",
    moveOnMouseMove: "shift",
    moveOnMouseWheel: false,
    preventDefaultMouseMove: false,
    throttle: 0,
  };
}

function labelOf(tick: Tick | undefined, zone: string): string {
  if (!tick) return "";
  if (tick.unit === "hour" && !tick.midnight) return clockText(tick.at, zone);
  return tick.unit === "week" ? dateText(tick.at, zone) : weekdayDateText(tick.at, zone);
}

/** Return the outline of a state in a row: above the states before it. Empty if the row never has it. */
function outline(segments: readonly Segment[], state: number, left: number, top: number, height: number): number[][] {
  if (!segments.some((each) => each.shares[state]! > 0)) return [];
  const upper: number[][] = [];
  const lower: number[][] = [];
  for (const { from, to, shares } of segments) {
    let below = 0;
    for (let each = 0; each < state; each++) below += shares[each]!;
    const bottom = top + height * (1 - below);
    const own = bottom - height * shares[state]!;
    upper.push([left + from, own], [left + to, own]);
    lower.push([left + from, bottom], [left + to, bottom]);
  }
  return [...upper, ...lower.reverse()];
}
