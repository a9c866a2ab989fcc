import { useEffect, useState } from 'preact/hooks';

export const EXPERIENCES = [
  { id: 'service', name: 'Service' },
  { id: 'observatory', name: 'Observatory' },
  { id: 'two-clerks', name: 'Two Clerks' },
] as const;

export type Experience = (typeof EXPERIENCES)[number]['id'];

const nameOf = (id: Experience) => EXPERIENCES.find((known) => known.id === id)?.name ?? '';

const inAddress = (): Experience =>
  EXPERIENCES.find(({ id }) => `#${id}` === location.hash)?.id ?? 'service';

/** The experience in the URL hash, so that links and the Back button work. */
export function useExperience(): Experience {
  const [experience, set] = useState(inAddress);
  useEffect(() => {
    const follow = () => set(inAddress());
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  useEffect(() => {
    document.title = `${nameOf(experience)} · Guestbook`;
  }, [experience]);
  return experience;
}
