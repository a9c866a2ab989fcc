export interface Answer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: the demo reads any field of the JSON
  body: any;
  link: string | null;
}

export type Api = ReturnType<typeof createApiClient>;

/** Sends requests to one instance and counts responses by status. */
export function createApiClient(baseUrl: string) {
  const counts = new Map<number, number>();

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: {
        ...(method === 'GET' ? {} : { origin: baseUrl, 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    counts.set(response.status, (counts.get(response.status) ?? 0) + 1);
    const answer = await response.text();
    return {
      status: response.status,
      body: answer ? JSON.parse(answer) : undefined,
      link: response.headers.get('link'),
    };
  }

  return { call, counts };
}

/** Runs `work` on every item, `lanes` at a time. */
export async function each<Item>(
  items: readonly Item[],
  lanes: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}
