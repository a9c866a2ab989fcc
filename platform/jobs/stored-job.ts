import type { Job } from '../eventstore/plan.ts';

/** A job as pg-boss stores it: its data, and the traces in a field that no job's data may use. */
export function toStored({ data, traceIds = [] }: Job): Record<string, unknown> {
  return traceIds.length > 0 ? { ...data, trace_ids: traceIds } : data;
}

/** Separates the data of a stored job, which its handler gets, from its traces, for the log. */
export function fromStored(stored: unknown): { data: unknown; traceIds: string[] | undefined } {
  const { trace_ids: traceIds, ...data } = (stored ?? {}) as { trace_ids?: string[] };
  return { data, traceIds };
}
