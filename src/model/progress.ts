/** A line about long work, sent before the result. */
export interface Progress {
  step: string;
  /** 0 to 1 where it is known. */
  fraction?: number;
}

export type ReportProgress = (progress: Progress) => void;
