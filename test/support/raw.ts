import { connect } from 'node:net';

/**
 * Sends bytes unchanged, unlike `fetch`, and returns the response as text once the server has
 * closed the connection.
 */
export async function sendRaw(baseUrl: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const closed = new Promise<void>((resolve, reject) => {
    socket.on('close', () => resolve());
    socket.on('error', reject);
  });
  socket.write(bytes);
  await closed;
  return text;
}

/** A request as bytes on the wire; it asks the server to close the connection. */
export function rawRequest(
  method: string,
  target: string,
  headers: readonly string[],
  body = '',
): string {
  const all = ['host: localhost', 'connection: close', ...headers];
  if (body)
    all.push('content-type: application/json', `content-length: ${Buffer.byteLength(body)}`);
  return `${method} ${target} HTTP/1.1\r\n${all.join('\r\n')}\r\n\r\n${body}`;
}
