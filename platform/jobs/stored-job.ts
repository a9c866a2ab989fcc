import type { SpanContext } from '@opentelemetry/api';
import type { Job } from '../eventstore/plan.ts';
import { parseTraceparent } from '../telemetry/trace.ts';

/** A job as pg-boss stores it: its data, and the traces in a field that no job's data may use. */
export function toStored({ data, traceIds = [] }: Job): Record<string, unknown> {
  return traceIds.length > 0 ? { ...data, trace_ids: traceIds } : data;
}

/**
 * Separates the data of a stored job, which its handler gets, from its traces: their ids, for the log, and the spans that
 * enqueued it.
 */
export function fromStored(stored: unknown): {
  data: unknown;
  traceIds: string[] | undefined;
  causes: SpanContext[];
} {
  const { trace_ids: traces, ...data } = (stored ?? {}) as { trace_ids?: string[] };
  const ids = traces?.map((trace) => parseTraceparent(trace)?.traceId ?? trace);
  return {
    data,
    traceIds: ids && [...new Set(ids)],
    causes: (traces ?? []).flatMap((trace) => parseTraceparent(trace) ?? []),
  };
}
