import pg from 'pg';
import { parseJson } from '../json.ts';

const { builtins } = pg.types;
const OWN: Readonly<Record<number, (text: string) => unknown>> = {
  [builtins.INT8]: Number,
  [builtins.JSON]: parseJson,
  [builtins.JSONB]: parseJson,
};

/** How values are read: the driver's way, but for bigint, which is a number, and for JSON. */
export const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    OWN[oid] ?? pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};
