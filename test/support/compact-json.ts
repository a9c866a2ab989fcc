const MAX_LINE_LENGTH = 100;

/** JSON for files that are reviewed: what fits on one line is on one line. */
export function toCompactJson(value: unknown, indent = '', used = 0): string {
  const line = toLine(value);
  if (typeof value !== 'object' || value === null || used + line.length <= MAX_LINE_LENGTH)
    return line;
  const inner = `${indent}  `;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const lines = Object.entries(value).map(([key, part]) => {
    const start = Array.isArray(value) ? inner : `${inner}${JSON.stringify(key)}: `;
    return start + toCompactJson(part, inner, start.length + 1);
  });
  return `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

function toLine(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toLine).join(', ')}]`;
  const parts = Object.entries(value).map(
    ([key, part]) => `${JSON.stringify(key)}: ${toLine(part)}`,
  );
  return parts.length === 0 ? '{}' : `{ ${parts.join(', ')} }`;
}
