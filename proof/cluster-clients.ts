import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { newAgent } from '../harness/agent.ts';
import type { Api, ApiResponse } from '../harness/api.ts';
import { newCase } from '../harness/cases.ts';

const RETRY_MS = 200;
/** A write that is not acknowledged for so long after the end is given up, in milliseconds. */
const PATIENCE_MS = 60_000;

/** What members saw who opened cases and then read their feeds. */
export interface Written {
  acknowledged: number;
  /** Answers that say that storage is unavailable, and connections that broke; the writes were repeated. */
  repeated: number;
  slowestMs: number;
  /** Acknowledged cases that a feed does not have exactly once, gaps in feeds, and other answers. */
  wrong: string[];
}

/** Lets members open cases until a time, each write with its key until it is acknowledged, and then read their whole feeds. */
export async function openCases(api: Api, members: number, until: number): Promise<Written> {
  const written: Written = { acknowledged: 0, repeated: 0, slowestMs: 0, wrong: [] };
  await Promise.all(Array.from({ length: members }, () => beMember(api, until, written)));
  return written;
}

async function beMember(api: Api, until: number, written: Written): Promise<void> {
  const agent = await newAgent(api);
  const opened: string[] = [];
  while (performance.now() < until) {
    const headers = { 'idempotency-key': randomUUID() };
    const answer = await untilAnswered(
      () => agent.call('POST', '/api/v1/cases', newCase(), headers),
      until,
      written,
    );
    if (answer?.status === 201) opened.push(answer.body.case.id);
    else written.wrong.push(answer ? `${answer.status} ${answer.text}` : 'no answer');
  }
  written.acknowledged += opened.length;
  const feed = await readFeed(agent.call);
  for (const id of opened) {
    const count = feed.filter(({ subject }) => subject.id === id).length;
    if (count !== 1) written.wrong.push(`the case ${id} is in its feed ${count} times`);
  }
  const gap = feed.findIndex(({ sequence }, at) => sequence !== at + 1);
  if (gap >= 0) written.wrong.push(`the feed of ${agent.id} has a gap at ${gap + 1}`);
}

async function untilAnswered(
  call: () => Promise<ApiResponse>,
  until: number,
  written: Written,
): Promise<ApiResponse | undefined> {
  while (performance.now() < until + PATIENCE_MS) {
    const began = performance.now();
    const answer = await call().catch(() => undefined);
    written.slowestMs = Math.max(written.slowestMs, performance.now() - began);
    if (answer && answer.status < 500) return answer;
    written.repeated++;
    await sleep(RETRY_MS);
  }
  return undefined;
}

interface Update {
  sequence: number;
  subject: { id: string };
}

export async function readFeed(
  call: (method: string, path: string) => Promise<ApiResponse>,
): Promise<Update[]> {
  const updates: Update[] = [];
  for (let cursor = ''; ; ) {
    const { status, text, body } = await call('GET', `/api/v1/updates?limit=100${cursor}`);
    if (status !== 200) throw new Error(text);
    updates.push(...body.events);
    if (!body.has_more) return updates;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
}
