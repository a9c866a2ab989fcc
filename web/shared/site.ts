import { createContext } from 'preact';
import type { SiteInfo } from '../../services/pages/site/view.ts';

/** The operator's words, for every part of a page. */
export const Site = createContext<SiteInfo>({
  name: '',
  about: '',
  guestbooks: { service: '', observatory: '', 'two-clerks': '' },
});
