import pg from 'pg';
import { parseJson } from '../json.ts';

const { builtins } = pg.types;
const PARSERS_BY_OID: Readonly<Record<number, (text: string) => unknown>> = {
  [builtins.INT8]: Number,
  [builtins.DATE]: String,
  [builtins.JSON]: parseJson,
  [builtins.JSONB]: parseJson,
};

/**
 * The driver's parsers, except that bigint becomes a number, a date stays text without a time zone,
 * and JSON is parsed by `parseJson`.
 */
export const valueParsers: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    PARSERS_BY_OID[oid] ??
    pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
};
