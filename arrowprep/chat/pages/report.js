"use strict";
const role = document.getElementById("role");
const problem = document.getElementById("problem");
const texts = (article, kind, of) => [...article.querySelectorAll(kind)].map(of);
function show() {
  let shown = 0;
  for (const article of document.querySelectorAll("article")) {
    const roles = texts(article, "data.role", (data) => data.value);
    const problems = texts(article, "li.problem", (item) => item.textContent);
    article.hidden =
      (role.value !== "" && !roles.includes(role.value)) ||
      (problem.value !== "" && !problems.includes(problem.value));
    shown += article.hidden ? 0 : 1;
  }
  document.getElementById("shown").textContent = shown + " shown";
}
role.addEventListener("change", show);
problem.addEventListener("change", show);
show();
