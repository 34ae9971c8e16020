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

/** What is visible, and the time of a pixel. */
interface Place {
  readonly range: Range;
  readonly perPixel: number;
}

type Shape = Record<string, unknown>;

interface RenderApi {
  coord(at: readonly [number, number]): number[];
}

/** The calendar on a canvas. ECharts moves and zooms it; this class says what a row looks like. */
export class CalendarCanvas {
  private readonly chart: ECharts;
  private picture: Picture | null = null;
  /** What is visible, which the user may have changed since the last picture. */
  private shown: Range = { start: 0, end: DAY };
  private ticks: { readonly around: Range; readonly length: number } | null = null;

  constructor(element: HTMLElement, onRange: (range: Range) => void) {
    this.chart = init(element, null, { renderer: "canvas" });
    this.chart.on("dataZoom", (event) => {
      const { start, end } = percentsOf(event);
      const limits = this.picture?.limits;
      if (!limits || start === undefined || end === undefined) return;
      const size = limits.end - limits.start;
      this.shown = { start: limits.start + (size * start) / 100, end: limits.start + (size * end) / 100 };
      onRange(this.shown);
    });
  }

  /** Draw a picture; only what differs from the last one is given to ECharts. */
  draw(picture: Picture): void {
    const before = this.picture;
    this.picture = picture;
    const { limits, range } = picture;
    const otherLimits = !before || before.limits.start !== limits.start || before.limits.end !== limits.end;
    const moved = otherLimits || !same(range, this.shown);
    if (moved) this.shown = range;
    const otherLook = !before || before.colours !== picture.colours || before.zone !== picture.zone;
    const otherRows =
      otherLook || otherLimits || before.rows !== picture.rows || before.offset !== picture.offset || before.now !== picture.now;
    const option = {
      ...(before ? {} : { ...FRAME, textStyle: { fontFamily: getComputedStyle(document.body).fontFamily } }),
      ...(otherLook || otherLimits || !this.hasTicks(range) ? { xAxis: this.axis(picture) } : {}),
      ...(moved ? { dataZoom: [zoom(picture, !before)] } : {}),
      ...(otherRows ? { series: this.series(picture) } : {}),
    };
    if (Object.keys(option).length) this.chart.setOption(option);
  }

  resize(): void {
    this.chart.resize();
    this.ticks = null;
  }

  dispose(): void {
    this.chart.dispose();
  }

  /** Return the instant at a pixel from the left of the chart. */
  instantAt(x: number): Instant {
    return this.shown.start + x * this.perPixel;
  }

  get perPixel(): number {
    return (this.shown.end - this.shown.start) / Math.max(1, this.chart.getWidth());
  }

  private series(picture: Picture): Shape[] {
    const common = { type: "custom", clip: true, silent: true, encode: { x: 0, y: 1 } };
    const data = picture.rows.map((_, index) => [picture.limits.start, index]);
    return [
      {
        ...common,
        id: "rows",
        data,
        renderItem: (params: { dataIndex: number }, api: RenderApi) => this.row(params.dataIndex, this.placeBy(api)),
      },
      {
        ...common,
        id: "now",
        z: 5,
        data: [[picture.now, 0]],
        renderItem: (_: unknown, api: RenderApi) => this.nowLine(this.placeBy(api)),
      },
    ];
  }

  /** Return what is visible while ECharts draws, which may be ahead of its events. */
  private placeBy(api: RenderApi): Place {
    const { start, end } = this.picture!.limits;
    const [left, right] = [api.coord([start, 0])[0]!, api.coord([end, 0])[0]!];
    const perPixel = (end - start) / (right - left);
    const first = start - left * perPixel;
    return { range: { start: first, end: first + this.chart.getWidth() * perPixel }, perPixel };
  }

  private hasTicks(range: Range): boolean {
    const found = this.ticks;
    if (!found) return false;
    const length = range.end - range.start;
    const { around } = found;
    return Math.abs(length / found.length - 1) < 0.01 && around.start <= range.start && around.end >= range.end;
  }

  private axis(picture: Picture): Shape {
    const { range, limits, zone, colours } = picture;
    const length = range.end - range.start;
    const most = Math.max(2, Math.floor(this.chart.getWidth() / TICK_WIDTH));
    // With room on both sides, so that moving needs no new labels.
    const around = { start: Math.max(limits.start, range.start - length), end: Math.min(limits.end, range.end + length) };
    this.ticks = { around, length };
    const ticks = ticksOf(around, zone, most * ((around.end - around.start) / length));
    const byTime = new Map(ticks.map((each) => [each.at, each]));
    const values = ticks.map((each) => each.at);
    return {
      type: "value",
      position: "top",
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

  private row(index: number, { range, perPixel }: Place): Shape | null {
    const picture = this.picture;
    const row = picture?.rows[index];
    if (!picture || !row) return null;
    const top = AXIS_HEIGHT + row.top - picture.offset;
    const segments = segmentsOf(row.stretches, range, perPixel);
    const children = STATES.flatMap((_, state) => {
      const points = outline(segments, state, top, row.height);
      return points.length
        ? [{ type: "polygon", shape: { points }, style: { fill: picture.colours[STATES[state]!] }, silent: true }]
        : [];
    });
    return { type: "group", silent: true, children };
  }

  private nowLine({ range, perPixel }: Place): Shape | null {
    const picture = this.picture;
    if (!picture || picture.now < range.start) return null;
    const x = (picture.now - range.start) / perPixel;
    const height = this.chart.getHeight();
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

function same(a: Range, b: Range): boolean {
  return Math.abs(a.start - b.start) < 1 && Math.abs(a.end - b.end) < 1;
}

function percentsOf(event: unknown): { start?: number; end?: number } {
  const found = event as { start?: number; end?: number; batch?: Array<{ start?: number; end?: number }> };
  return found.batch?.[0] ?? found;
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
function outline(segments: readonly Segment[], state: number, top: number, height: number): number[][] {
  if (!segments.some((each) => each.shares[state]! > 0)) return [];
  const upper: number[][] = [];
  const lower: number[][] = [];
  for (const { from, to, shares } of segments) {
    let below = 0;
    for (let each = 0; each < state; each++) below += shares[each]!;
    const bottom = top + height * (1 - below);
    const own = bottom - height * shares[state]!;
    upper.push([from, own], [to, own]);
    lower.push([from, bottom], [to, bottom]);
  }
  return [...upper, ...lower.reverse()];
}
