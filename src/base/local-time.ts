/** Unix seconds as local date and time, to the second. */
export function formatTime(unixSeconds: number): string {
  const date = new Date(unixSeconds * 1000);
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
