import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of the example handoff with its five cases. */
export const EXAMPLE = join(import.meta.dirname, '..', 'examples', 'handoff');

const shared = {
  schema: 'service.context-packet.v1',
  title: 'A packet',
  summary: 'What it is about',
  visibility: 'public',
  publish_consent: true,
  policy_version: 'service-public-v1',
  reuse_terms: 'CC0-1.0',
  supersedes_id: null as string | null,
  provenance: {
    claim_type: 'self_reported',
    observed_at: '2026-09-12T10:00:00.000Z' as string | null,
    source_refs: ['https://example.org/source'],
  },
};

// biome-ignore lint/suspicious/noExplicitAny: tests change any field of it
export function handoff(): any {
  return JSON.parse(readFileSync(join(EXAMPLE, 'packet.json'), 'utf8'));
}

export function brief(changes: Partial<typeof shared> = {}) {
  return {
    ...structuredClone(shared),
    kind: 'brief',
    ...changes,
    content: { body: 'Grüße, שלום, 你好 👋\n\tdone', format: 'markdown' },
  };
}

export function result() {
  return {
    ...structuredClone(shared),
    kind: 'result',
    content: {
      outcome: 'It worked.',
      evidence: [
        { description: 'Alone' },
        {
          description: 'With its digest and place',
          sha256: 'a'.repeat(64),
          source_ref: 'https://example.org/evidence',
        },
      ],
    },
  };
}

/** Copies a packet with the value at a dotted path replaced, or removed if it is undefined. */
export function changed<Packet extends object>(packet: Packet, path: string, value: unknown) {
  const copy = structuredClone(packet);
  const names = path.split('.');
  const last = names.pop() ?? '';
  let place = copy as Record<string, unknown>;
  for (const name of names) place = place[name] as Record<string, unknown>;
  if (value === undefined) delete place[last];
  else place[last] = value;
  return copy;
}
