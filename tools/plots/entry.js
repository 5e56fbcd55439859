// The parts of Observable Plot that the report's page uses.
export { plot, barX, dot, link, text, ruleX, ruleY, tickX, rectY, rect, axisX, axisY, gridX } from "@observablehq/plot";
