// What must not pass, each fault alone. The compiler complains of this file when the line after such a comment has none.

import type { Board, Panel } from './board';

const options: Extract<Panel, { type: 'timeseries' }>['options'] = {
  legend: { showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [] },
  tooltip: { mode: 'multi', sort: 'desc' },
};
const fieldConfig = { defaults: { unit: 's' }, overrides: [] };
const matcher = { id: 'byName', options: 'x' };
const drawn = { type: 'timeseries' as const, targets: [], options, fieldConfig };

export const panels: Panel[] = [
  // @ts-expect-error: no such kind of panel.
  { ...drawn, type: 'timeserie' },
  // @ts-expect-error: a place is a number.
  { ...drawn, gridPos: { x: 0, y: '0', w: 8, h: 8 } },
  // @ts-expect-error: an option of another kind of panel.
  { ...drawn, options: { ...options, graphMode: 'none' } },
  // @ts-expect-error: an option is missing.
  { ...drawn, options: { tooltip: options.tooltip } },
  // @ts-expect-error: no such member.
  { ...drawn, fieldConfig: { defaults: { units: 's' }, overrides: [] } },
  // @ts-expect-error: no such mode of thresholds.
  { ...drawn, fieldConfig: { defaults: { thresholds: { mode: 'relative', steps: [] } }, overrides: [] } },
  // @ts-expect-error: no such style.
  { ...drawn, fieldConfig: { defaults: { custom: { drawStyle: 'lines' } }, overrides: [] } },
  // @ts-expect-error: a width is a number.
  { ...drawn, fieldConfig: { defaults: {}, overrides: [{ matcher, properties: [{ id: 'custom.lineWidth', value: '1' }] }] } },
  // @ts-expect-error: a query has an expression.
  { ...drawn, targets: [{ refId: 'A', datasource: {}, legendFormat: '', instant: false, range: true, editorMode: 'code' }] },
  { ...drawn, title: 'one without a fault' },
];

const query = { qryType: 1, query: 'label_values(up, job)', refId: 'variable' };

export const boards: Board[] = [
  // @ts-expect-error: no such way to share a pointer.
  { schemaVersion: 39, panels: [], templating: { list: [] }, graphTooltip: 3 },
  // @ts-expect-error: no such time to ask for what may be chosen.
  { schemaVersion: 39, panels: [], templating: { list: [{ name: 'x', type: 'query', definition: '', query, refresh: 7 }] } },
];
