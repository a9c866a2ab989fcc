import { type Api, type ApiResponse, createApi } from '../harness/api.ts';
import { patient } from '../harness/patient.ts';

export type DemoApi = ReturnType<typeof createApiClient>;

/** Sends requests to one instance, again where a busy machine does not answer in time, and counts answers by status. */
export function createApiClient(baseUrl: string) {
  const counts = new Map<number, number>();
  const api: Api = patient(createApi(baseUrl));

  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<ApiResponse> {
    const answer = await api.call(method, path, { body, headers });
    counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
    return answer;
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
