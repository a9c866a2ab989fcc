import type { AnyReply } from './route.ts';

export type RpcId = string | number | null;

export interface RpcError {
  code: number;
  message: string;
  data?: unknown;
}

/**
 * Builds a JSON-RPC error response. Where the id of the request is unknown, `id` is null, or undefined
 * for a protocol that leaves it out.
 */
export function rpcFailure(
  status: number,
  id: RpcId | undefined,
  error: RpcError,
  headers: Record<string, string> = {},
): AnyReply {
  return { status, body: { jsonrpc: '2.0', id, error }, headers };
}

/** Builds a JSON-RPC success response. */
export function rpcSuccess(id: RpcId, result: unknown): AnyReply {
  return { status: 200, body: { jsonrpc: '2.0', id, result } };
}
