import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../messages";
import { theme, zone } from "../page/preferences";
import { minute } from "../time/clock";
import { CalendarCanvas, type Colours } from "./canvas";
import { readColours } from "./colours";
import { type Range, snapOf, snapped } from "./model";
import { Labels } from "./Labels";
import { Readout, type Pointed } from "./Readout";
import { rowAt, rows, rowsIn, totalHeight } from "./rows";
import { AXIS_HEIGHT } from "./sizes";
import { draftPeriod, periodOf, wishedLength } from "./select";
import { firstInstant, lastInstant, range, show } from "./store";

const MOST_HEIGHT = 460;

interface Drag {
  readonly top: number;
  readonly height: number;
  readonly from: number;
  to: number;
}

/** The chart: labels of the rows at the left, and a canvas that shows as many rows as fit. */
export default function Chart() {
  const element = useRef<HTMLDivElement>(null);
  const canvas = useRef<CalendarCanvas | null>(null);
  const offset = useSignal(0);
  const pointed = useSignal<Pointed | null>(null);
  const drag = useSignal<Drag | null>(null);
  const colours = useSignal<Colours | null>(null);
  const width = useSignal(0);
  const height = Math.min(MOST_HEIGHT, totalHeight.value + AXIS_HEIGHT);

  useEffect(() => {
    const made = new CalendarCanvas(element.current!, (found: Range) => (range.value = found));
    canvas.current = made;
    const observer = new ResizeObserver(() => {
      made.resize();
      width.value = element.current?.clientWidth ?? 0;
    });
    observer.observe(element.current!);
    const looks = ["(prefers-color-scheme: dark)", "print"].map((each) => matchMedia(each));
    const changed = () => (colours.value = readColours());
    for (const each of looks) each.addEventListener("change", changed);
    changed();
    return () => {
      observer.disconnect();
      for (const each of looks) each.removeEventListener("change", changed);
      made.dispose();
      canvas.current = null;
    };
  }, []);

  useSignalEffect(() => {
    void theme.value;
    colours.value = readColours();
  });

  const visible = useComputed(() => rowsIn(rows.value, offset.value, offset.value + MOST_HEIGHT));
  useSignalEffect(() => {
    void width.value;
    if (!colours.value) return;
    canvas.current?.draw({
      rows: visible.value,
      offset: offset.value,
      range: range.value,
      limits: { start: firstInstant.value, end: lastInstant.value },
      now: minute.value,
      zone: zone(),
      colours: colours.value,
    });
  });

  const at = (event: PointerEvent) => {
    const box = element.current!.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    const row = y > AXIS_HEIGHT ? rowAt(rows.value, y - AXIS_HEIGHT + offset.value) : undefined;
    return { x, y, row, instant: canvas.current!.instantAt(x) };
  };

  function down(event: PointerEvent) {
    if (event.button !== 0 || event.shiftKey || event.ctrlKey || !canvas.current) return;
    const { x, row } = at(event);
    if (!row) return;
    drag.value = { top: AXIS_HEIGHT + row.top - offset.value, height: row.height, from: x, to: x };
    pointed.value = { row, instant: at(event).instant };
  }

  function move(event: PointerEvent) {
    if (!canvas.current) return;
    const { x, row, instant } = at(event);
    if (drag.value) {
      drag.value = { ...drag.value, to: x };
      if (pointed.value) pointed.value = { ...pointed.value, instant };
    } else pointed.value = row ? { row, instant } : null;
  }

  function up(event: PointerEvent) {
    const [current, row] = [drag.value, pointed.value?.row];
    drag.value = null;
    if (!current || !row || !canvas.current) return;
    const step = snapOf(canvas.current.perPixel);
    const round = (x: number) => snapped(canvas.current!.instantAt(x), step, zone());
    const first = round(current.from);
    const clicked = Math.abs(at(event).x - current.from) < 4;
    // A finger scrolls the page; only a tap chooses.
    if (!clicked && event.pointerType === "touch") return;
    const period = periodOf(first, clicked ? Math.max(first, minute.value) + wishedLength() : round(at(event).x));
    if (period) draftPeriod(period, row.value);
  }

  return (
    <>
      <div
        class="chart"
        // The keyboard scrolls it, if not all rows fit, and moves it in time.
        tabIndex={0}
        role="group"
        aria-label={t.chart.title}
        onKeyDown={moveByKey}
        onScroll={(event) => (offset.value = event.currentTarget.scrollTop)}
        onWheel={(event) => panByWheel(event, element.current!)}
      >
        <div class="chart-inside" style={{ height: `${totalHeight.value + AXIS_HEIGHT}px` }}>
          <Labels offset={offset.value} height={MOST_HEIGHT} />
          <div
            class="canvas"
            style={{ height: `${height}px` }}
            role="img"
            aria-label={t.chart.label}
            onPointerDown={down}
            onPointerMove={move}
            onPointerUp={up}
            onPointerLeave={() => {
              pointed.value = null;
              drag.value = null;
            }}
          >
            <div class="drawing" ref={element} />
            {drag.value && <Selection drag={drag.value} />}
          </div>
        </div>
      </div>
      <Readout pointed={pointed.value} />
    </>
  );
}

function Selection({ drag }: { drag: Drag }) {
  const style = {
    left: `${Math.min(drag.from, drag.to)}px`,
    width: `${Math.abs(drag.to - drag.from)}px`,
    top: `${drag.top}px`,
    height: `${drag.height}px`,
  };
  return <div class="selection" style={style} />;
}

/** Move the chart with the arrows, and zoom it with + and -. */
function moveByKey(event: KeyboardEvent): void {
  if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
  const { start, end } = range.value;
  const length = end - start;
  const moves: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => show(start - length / 4, length),
    ArrowRight: () => show(start + length / 4, length),
    Home: () => show(firstInstant.value, length),
    "+": () => show(start + length / 4, length / 2),
    "-": () => show(start - length / 2, length * 2),
  };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  move();
}

/** Move the chart with a wheel or a pad that turns sideways. */
function panByWheel(event: WheelEvent, element: HTMLElement): void {
  if (Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
  event.preventDefault();
  const { start, end } = range.value;
  show(start + ((end - start) * event.deltaX) / Math.max(1, element.clientWidth), end - start);
}
