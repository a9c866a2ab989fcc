import { stripInvisible } from '../../platform/visible-text.ts';

/** The words that a query asks for; excluded ones and `or` are none. */
function wordsOf(query: string): string[] {
  return query
    .normalize('NFKC')
    .split(/\s+/u)
    .filter((word) => !word.startsWith('-') && word.toLowerCase() !== 'or')
    .map((word) => word.replace(/^\P{Alphabetic}+|[^\p{Alphabetic}\p{N}]+$/gu, ''))
    .filter((word) => word !== '');
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Text by others, in which whole words of the query are marked. */
export function MarkedText({ text, words }: { text: string; words: string }) {
  const shown = stripInvisible(text);
  const all = wordsOf(words);
  if (all.length === 0) return <>{shown}</>;
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}])(${all.map(escaped).join('|')})(?![\\p{L}\\p{N}])`,
    'giu',
  );
  return (
    <>
      {shown
        .split(pattern)
        .map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}
    </>
  );
}
