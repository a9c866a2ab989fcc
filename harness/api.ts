import { parseJson } from '../platform/json.ts';

/** A response of the API. */
export interface ApiResponse {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: callers read any field of the JSON
  body: any;
}

export interface CallOptions {
  body?: unknown;
  /** The fields of an HTML form, instead of a JSON body. */
  form?: Record<string, string>;
  headers?: Record<string, string>;
  cookie?: string | undefined;
}

/** Sends requests to one service. */
export interface Api {
  call(method: string, path: string, options?: CallOptions): Promise<ApiResponse>;
}

/** Creates an API client over HTTP. Writes send the service's origin. */
export function createApi(baseUrl: string): Api {
  return {
    async call(method, path, { body: given, form, headers = {}, cookie } = {}) {
      const body = form ? new URLSearchParams(form).toString() : given;
      const type = form ? 'application/x-www-form-urlencoded' : 'application/json';
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        redirect: 'manual',
        headers: {
          ...(method === 'GET' || method === 'HEAD' ? {} : { origin: baseUrl }),
          ...(body === undefined ? {} : { 'content-type': type }),
          ...(cookie ? { cookie } : {}),
          ...headers,
        },
        ...(body === undefined
          ? {}
          : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = response.headers.get('content-type')?.startsWith('application/json') && text;
      return {
        status: response.status,
        headers: response.headers,
        text,
        body: json ? parseJson(text) : undefined,
      };
    },
  };
}

/** The `name=value` pair of the cookie that a response sets. */
export function readCookie(answer: ApiResponse): string {
  return (answer.headers.get('set-cookie') ?? '').split(';')[0] ?? '';
}
