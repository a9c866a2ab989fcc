import type { Moderator } from '../../harness/moderation.ts';
import type { Service } from './service.ts';

/** An answer that a moderator got, and a moment at which it stood. */
export interface RecordedAnswer {
  path: string;
  at: string;
  text: string;
}

interface Aged {
  age_seconds: number;
  received_at: string;
}

/** Collects what a moderator reads, each answer with its moment. */
export function recordAnswers({ database }: Service, reader: Moderator) {
  const answers: RecordedAnswer[] = [];

  async function now(): Promise<Date> {
    const { rows } = await database.pool.query<{ now: Date }>('SELECT clock_timestamp() AS now');
    return rows[0]?.now as Date;
  }

  /** An age counts whole seconds, so the moments before and after the answer must have the same. */
  function isAt({ age_seconds, received_at }: Aged, moments: readonly Date[]): boolean {
    const ages = moments.map((at) => Math.floor((at.getTime() - Date.parse(received_at)) / 1000));
    return ages.every((age) => Math.max(0, age) === age_seconds);
  }

  async function record(path: string): Promise<void> {
    for (;;) {
      const before = await now();
      const { status, body, text } = await reader.get(path);
      if (status !== 200) throw new Error(`${path}: ${text}`);
      if (!isAt(body.item, [before, await now()])) continue;
      answers.push({ path, at: before.toISOString(), text });
      return;
    }
  }

  return {
    answers,
    async record(...paths: readonly string[]) {
      for (const path of paths) await record(path);
    },
  };
}

export const atMoment = (path: string, asOf: string | number): string =>
  `${path}${path.includes('?') ? '&' : '?'}as_of=${encodeURIComponent(asOf)}`;
