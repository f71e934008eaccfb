// What a dashboard's file may hold: the types that Grafana publishes, put together for the kinds of panels that we use.

import type * as grafana from '@grafana/schema';
import type * as stat from '@grafana/schema/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen.d.ts';
import type * as stateTimeline from '@grafana/schema/dist/esm/raw/composable/statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen.d.ts';
import type * as timeSeries from '@grafana/schema/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen.d.ts';

/** A type as JSON has it: with the texts and numbers that stand for the members of an enum. */
type Json<T> = T extends string | number | bigint | boolean | null | undefined
  ? T extends string ? `${T}` : T
  : { [K in keyof T]: Json<T[K]> };

/** The same without members that begin as another type says. */
type With<T, Own> = Omit<T, keyof Own> & Own;

/** What the Prometheus data source reads of a query. Its types are in no package without the whole of Grafana's pages. */
type Target = With<grafana.DataQuery, {
  datasource: grafana.DataSourceRef;
  expr: string;
  legendFormat: string;
  instant: boolean;
  range: boolean;
  editorMode: 'code' | 'builder';
}>;

/** An override names a member of what a field is drawn by, and gives it a value. */
type Property<Custom> =
  | { [K in keyof grafana.FieldConfig]-?: { id: K; value: grafana.FieldConfig[K] } }[keyof grafana.FieldConfig]
  | { [K in keyof Custom & string]-?: { id: `custom.${K}`; value: Custom[K] } }[keyof Custom & string];

type Drawn<Type extends string, Options, Custom> = With<grafana.Panel, {
  type: Type;
  options: Options;
  targets: Target[];
  fieldConfig: {
    defaults: With<grafana.FieldConfig, { custom?: Custom }>;
    overrides: { matcher: grafana.MatcherConfig; properties: Property<Custom>[] }[];
  };
}>;

/** A panel that draws something. */
export type Panel = Json<
  | Drawn<'stat', stat.Options, {}>
  | Drawn<'state-timeline', stateTimeline.Options, stateTimeline.FieldConfig>
  | Drawn<'timeseries', timeSeries.Options, timeSeries.FieldConfig>
>;

/** A query variable. `definition` is what lists of variables show; Grafana writes it, and its types leave it out. */
type Variable = With<grafana.VariableModel, {
  query: { qryType: number; query: string; refId: string };
  definition: string;
}>;

export type Board = With<Json<grafana.Dashboard>, {
  panels: (Panel | With<Json<grafana.RowPanel>, { panels: Panel[] }>)[];
  templating: { list: Json<Variable>[] };
}>;
