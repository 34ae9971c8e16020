/** The height of the time axis above the rows, in pixels. */
export const AXIS_HEIGHT = 26;
