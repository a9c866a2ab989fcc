import type { AnyReply } from './route.ts';

export type RpcId = string | number | null;

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/** A JSON-RPC error as an answer; `id` is null where the request's cannot be told. */
export function rpcFailure(
  status: number,
  id: RpcId,
  error: RpcError,
  headers: Record<string, string> = {},
): AnyReply {
  return { status, body: { jsonrpc: '2.0', id, error }, headers };
}

export function rpcSuccess(id: RpcId, result: unknown): AnyReply {
  return { status: 200, body: { jsonrpc: '2.0', id, result } };
}
