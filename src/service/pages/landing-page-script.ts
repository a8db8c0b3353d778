/** Sends the request of a clicked button and shows its response below it. A constant: no data becomes part of it. */
export const landingPageScript = `
document.addEventListener('click', async (event) => {
  const button = event.target.closest('button[data-path]')
  if (!button) return
  const { method, path, body } = button.dataset
  if (method === 'DELETE' && !confirm('Destroy this record?')) return
  const output = button.parentElement.querySelector('output')
  output.hidden = false
  try {
    const headers = body === undefined ? {} : { 'Content-Type': 'application/json' }
    const response = await fetch('.' + path, { method, body, headers })
    const text = await response.text()
    output.textContent = response.status + ' ' + response.statusText + '\\n' + readable(text)
  } catch (error) {
    output.textContent = String(error)
  }
})

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
`
