import { setTimeout as sleep } from 'node:timers/promises';

export interface StreamEvent {
  event: string;
  id: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the JSON
  data: any;
}

type Ending = { teardown(end: () => Promise<void>): unknown };

/** Reads server-sent events until the stream or the test ends. */
export async function openEventStream(t: Ending, url: string, headers: Record<string, string>) {
  const controller = new AbortController();
  t.teardown(async () => controller.abort());
  const response = await fetch(url, { headers, signal: controller.signal });
  const seen: StreamEvent[] = [];
  let text = '';
  let ended = false;

  async function pump(): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const blocks = text.split('\n\n').slice(0, -1);
      seen.splice(0, Infinity, ...blocks.flatMap((block) => read(block) ?? []));
    }
  }

  const over = pump()
    .catch(() => undefined)
    .finally(() => {
      ended = true;
    });

  /** Waits for the first event with this name that fits, among all events received so far. */
  async function until(
    event: string,
    // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the JSON
    fits: (data: any) => boolean = () => true,
  ): Promise<StreamEvent> {
    for (;;) {
      const found = seen.find((one) => one.event === event && fits(one.data));
      if (found) return found;
      if (ended) throw new Error(`the stream ended without ${event}: ${text}`);
      await sleep(10);
    }
  }

  return { response, seen, until, over, text: () => text, close: () => controller.abort() };
}

function read(block: string): StreamEvent | undefined {
  const fields = new Map(
    block.split('\n').map((line) => {
      const mark = line.indexOf(': ');
      return [line.slice(0, mark), line.slice(mark + 2)] as const;
    }),
  );
  const event = fields.get('event');
  if (!event) return undefined;
  return { event, id: fields.get('id') ?? '', data: JSON.parse(fields.get('data') ?? 'null') };
}
