import openai

client = openai.OpenAI(base_url="http://127.0.0.1:8080/v1", api_key="any")
stream = client.chat.completions.create(
    model="ember",
    messages=[{"role": "user", "content": "Once upon a time"}],
    temperature=0.8,
    seed=42,
    stream=True,
)
for chunk in stream:
    print(chunk.choices[0].delta.content or "", end="", flush=True)
print()
