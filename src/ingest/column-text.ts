/** Columns in the text form the kernel gives them in rejected rows. */

/** `a."b.c".element`: only a part that holds a dot is quoted. */
export function kernelPathText(path: readonly string[]): string {
  return path.map((part) => (part.includes('.') ? `"${part}"` : part)).join('.');
}
