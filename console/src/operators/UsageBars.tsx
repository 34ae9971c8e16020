import { BarChart } from "echarts/charts";
import { GridComponent, LegendComponent } from "echarts/components";
import { type ECharts, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useRef } from "preact/hooks";
import { readColours } from "../chart/colours";
import { t } from "../messages";
import { theme } from "../page/preferences";
import { type Hours, KINDS } from "./usage";

use([BarChart, GridComponent, LegendComponent, CanvasRenderer]);

export interface BarsProps {
  readonly names: readonly string[];
  readonly steps: readonly Hours[];
}

/** The hours of each step as stacked bars; the table below has the same data. */
export default function UsageBars({ names, steps }: BarsProps) {
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<ECharts | null>(null);
  useEffect(() => {
    const made = init(element.current!, null, { renderer: "canvas" });
    chart.current = made;
    const observer = new ResizeObserver(() => made.resize());
    observer.observe(element.current!);
    return () => {
      observer.disconnect();
      made.dispose();
    };
  }, []);
  const appearance = theme.value;
  useEffect(() => {
    const colours = readColours();
    const colourOf = {
      in_use: colours.mine,
      idle: colours.project,
      no_show: colours.maintenance,
      lost: colours.failed,
      unknown: colours.taken,
    };
    chart.current?.setOption({
      animation: false,
      textStyle: { color: colours.text, fontFamily: getComputedStyle(document.body).fontFamily },
      grid: { left: 46, right: 8, top: 30, bottom: 24 },
      legend: { top: 0, left: 0, textStyle: { color: colours.text }, selectedMode: false },
      xAxis: { type: "category", data: names, axisLabel: { color: colours.muted, hideOverlap: true } },
      yAxis: {
        type: "value",
        axisLabel: { color: colours.muted },
        splitLine: { lineStyle: { color: colours.line } },
      },
      series: KINDS.map((kind) => ({
        type: "bar",
        stack: "hours",
        silent: true,
        name: t.operators.kinds[kind],
        data: steps.map((each) => each[kind]),
        itemStyle: { color: colourOf[kind] },
      })),
    });
  }, [names, steps, appearance]);
  return <div class="bars" ref={element} role="img" aria-label={t.operators.bars} />;
}
